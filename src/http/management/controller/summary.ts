import { z } from 'zod'
import { defineOperation } from '../../operations/define-operation.ts'

export const summary = defineOperation(
  {
    route: 'GET /summary',
    summary: 'Counts the entities of each kind',
    access: 'admin',
    data: z.record(z.string(), z.int()),
  },
  async ({ engine }) => ({ data: await engine.reader.counts() }),
)
