import type { WriteTransaction } from '../ports/storage.ts'
import type { Call } from './call.ts'
import type { EngineContext } from './context.ts'
import { type RecordedChange, recording } from './recorded-changes.ts'
import { type EndReasons, tellChanges } from './tell-changes.ts'

/**
 * Runs `work` as one write and tells the host's listeners what changed, after the commit and in order. `reasons` says why
 * sessions end in it, where that does not follow from the write itself.
 */
export async function commit<T>(
  context: EngineContext,
  call: Call,
  work: (tx: WriteTransaction) => Promise<T>,
  reasons?: EndReasons,
): Promise<{ readonly result: T; readonly changes: readonly RecordedChange[] }> {
  const changes: RecordedChange[] = []
  const result = await context.storage.write((tx) => {
    changes.length = 0
    return work(recording(tx, changes))
  })
  tellChanges(context, call, changes, reasons)
  return { result, changes }
}
