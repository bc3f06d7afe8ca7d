import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import { DONE } from '../answers.ts'
import { defineOperation } from '../operation.ts'
import { HttpRefusal } from '../problem.ts'

const Report = z.object({
  endTime: z.iso.datetime().nullable(),
  error: z.string().nullable(),
  fixingErrors: z.boolean(),
  inProgress: z.boolean(),
  results: z.array(z.object({ description: z.string(), fixed: z.boolean() })).nullable(),
  startTime: z.iso.datetime().nullable(),
  tooManyErrors: z.boolean(),
})

/** Care of the store: snapshots, and the check of its integrity. */
export const databaseOperations = [
  defineOperation(
    {
      route: 'POST /database/snapshot',
      summary: 'Makes a snapshot of the store, where the storage can',
      access: 'admin',
      errors: ['RATE_LIMITED'],
    },
    async ({ engine }) => {
      if (await engine.snapshots.create()) return DONE
      throw new HttpRefusal('UNHANDLED', 501, { code: 'UNHANDLED', message: 'the storage makes no snapshots' })
    },
  ),
  defineOperation(
    {
      route: 'POST /database/check-data-integrity',
      summary: 'Starts to look for inconsistencies in the store',
      access: 'admin',
      status: 202,
      errors: ['RATE_LIMITED'],
    },
    async ({ engine, call }) => {
      engine.dataIntegrity.start(call, false)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'POST /database/fix-data-integrity',
      summary: 'Starts to look for inconsistencies in the store and to repair them',
      access: 'admin',
      status: 202,
      errors: ['RATE_LIMITED'],
    },
    async ({ engine, call }) => {
      engine.dataIntegrity.start(call, true)
      return DONE
    },
  ),
  defineOperation(
    {
      route: 'GET /database/data-integrity-results',
      summary: 'Shows what the present or last integrity run found',
      access: 'admin',
      data: Report,
    },
    async ({ engine }) => {
      const { startTime, endTime, ...report } = engine.dataIntegrity.report
      const shown = (time: number | null) => (time === null ? null : instant(time))
      const pagination = { limit: -1, offset: 0, totalCount: report.results?.length ?? 0 }
      return {
        data: { ...report, startTime: shown(startTime), endTime: shown(endTime) },
        // Command-line clients read this answer as a list.
        meta: { filterableFields: [], pagination },
      }
    },
  ),
] as const
