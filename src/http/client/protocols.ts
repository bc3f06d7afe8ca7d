import { z } from 'zod'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation } from '../operations/define-operation.ts'

export const protocols = defineOperation(
  {
    route: 'GET /protocols',
    summary: 'Lists the protocols and addresses under which clients reach the controller',
    access: 'public',
    data: z.record(z.string(), described(z.object({ address: z.string() }), { address: 'Host and port.' })),
  },
  async ({ engine }) => ({ data: { https: { address: engine.network.address } } }),
)
