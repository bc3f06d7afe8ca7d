import { z } from 'zod'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation } from '../operations/define-operation.ts'

export const networkJwts = defineOperation(
  {
    route: 'GET /network-jwts',
    summary: 'Lists the tokens that tell which network this is',
    description: 'Signed by the controller, so that a device can trust it before it enrolls.',
    access: 'public',
    data: z.array(
      described(z.object({ name: z.string(), token: z.string() }), {
        name: 'The name of the token: `default`.',
        token: 'The token, signed by the controller: it names its addresses and no identity.',
      }),
    ),
    errors: ['COULD_NOT_VALIDATE'],
  },
  async ({ engine }) => ({ data: [{ name: 'default', token: await engine.network.token() }] }),
)
