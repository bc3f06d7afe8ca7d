import { z } from 'zod'
import { instant } from '../../base/time.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { DONE } from '../../http/operations/operation.ts'
import { HttpRefusal } from '../../http/pipeline/problem.ts'
import { described } from '../../kernel/declaration/words.ts'

const Report = described(
  z.object({
    endTime: z.iso.datetime().nullable(),
    error: z.string().nullable(),
    fixingErrors: z.boolean(),
    inProgress: z.boolean(),
    results: z.array(
      described(z.object({ description: z.string(), fixed: z.boolean() }), {
        description: 'The inconsistency, for people.',
        fixed: 'Whether it was repaired.',
      }),
    ),
    startTime: z.iso.datetime().nullable(),
    tooManyErrors: z.boolean(),
  }),
  {
    endTime: 'When the run ended, RFC 3339; null while it goes on and before the first one.',
    error: 'Why the run broke off; null when it did not.',
    fixingErrors: 'Whether the run repairs what it finds.',
    inProgress: 'Whether the run goes on.',
    results: 'What was found.',
    startTime: 'When the run began, RFC 3339; null before the first one.',
    tooManyErrors: 'Whether more was found than `results` holds.',
  },
)

/** Care of the store: snapshots, and the check of its integrity. */
export const databaseOperations = [
  defineOperation(
    {
      route: 'POST /database/snapshot',
      summary: 'Makes a snapshot of the store, where the storage can',
      description: 'Answers 501 where the storage makes no snapshots.',
      access: 'admin',
      errors: ['RATE_LIMITED'],
      mayBeMissing: true,
    },
    async ({ engine }) => {
      if ((await engine.snapshots.create()) !== undefined) return DONE
      throw new HttpRefusal('UNHANDLED', 501, { code: 'UNHANDLED', message: 'the storage makes no snapshots' })
    },
  ),
  defineOperation(
    {
      route: 'POST /database/check-data-integrity',
      summary: 'Starts to look for inconsistencies in the store',
      description: 'One run at a time, looking or repairing; what it finds is at `/database/data-integrity-results`.',
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
      description: 'One run at a time, looking or repairing; what it finds is at `/database/data-integrity-results`.',
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
      hasListMeta: true,
    },
    async ({ engine }) => {
      const { startTime, endTime, ...report } = engine.dataIntegrity.report
      const shown = (time: number | null) => (time === null ? null : instant(time))
      const pagination = { limit: -1, offset: 0, totalCount: report.results.length }
      return {
        data: { ...report, startTime: shown(startTime), endTime: shown(endTime) },
        // Command-line clients read this answer as a list.
        meta: { filterableFields: [], pagination },
      }
    },
  ),
] as const
