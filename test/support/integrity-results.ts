import { vi } from 'vitest'
import type { ForeignClient } from '../contract/http/foreign-client.ts'

/** Milliseconds between two looks at a run that goes on. */
const INTERVAL_MS = 5

/** The answer that shows the latest run over the database, when it is over. */
export function integrityResults(admin: ForeignClient): ReturnType<ForeignClient['get']> {
  return vi.waitFor(
    async () => {
      const answer = await admin.get('/database/data-integrity-results')
      if (answer.body.data?.inProgress === true) throw new Error('the run over the database goes on')
      return answer
    },
    { interval: INTERVAL_MS },
  )
}
