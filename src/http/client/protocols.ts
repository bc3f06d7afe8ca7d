import { z } from 'zod'
import { defineOperation } from '../operation.ts'

export const protocols = defineOperation(
  {
    route: 'GET /protocols',
    summary: 'Lists the protocols and addresses under which clients reach the controller',
    access: 'public',
    data: z.record(z.string(), z.object({ address: z.string() })),
  },
  async ({ engine }) => ({ data: { https: { address: engine.context.settings.address } } }),
)
