import { z } from 'zod'
import { resourceCounts } from '../../engine/entities/resource-counts.ts'
import { defineOperation } from '../operations/operation.ts'

export const summary = defineOperation(
  {
    route: 'GET /summary',
    summary: 'Counts the entities of each kind',
    access: 'admin',
    data: z.record(z.string(), z.int()),
  },
  async ({ engine }) => ({ data: await engine.context.storage.read(resourceCounts) }),
)
