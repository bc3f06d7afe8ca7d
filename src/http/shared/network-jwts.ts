import { z } from 'zod'
import { defineOperation } from '../operation.ts'

export const networkJwts = defineOperation(
  {
    route: 'GET /network-jwts',
    summary: 'Lists the tokens that tell which network this is',
    access: 'public',
    data: z.array(z.object({ name: z.string(), token: z.string() })),
    errors: ['COULD_NOT_VALIDATE'],
  },
  async ({ engine }) => ({ data: [{ name: 'default', token: await engine.networkToken.jwt() }] }),
)
