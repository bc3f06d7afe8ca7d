import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { RecordedChange } from '../context/recorded-changes.ts'
import type { EndReasons } from '../context/writes.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { Filter } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { Clock } from '../ports/runtime.ts'
import { collectionOf, ifReadable } from './read-records.ts'

/** The answer of a write that leaves more work for the next write. */
export const MORE = Symbol('more')

/** The most records that one write removes or changes, and its longest time in ms; then other writers have their turn. */
const RECORDS = 100
const MILLISECONDS = 20

/** One write's share of a long change. */
export interface WriteBatch {
  /** Counts a removed or changed record. */
  count(): void
  /** Reports whether the rest is left to another write. */
  isOver(): boolean
  /**
   * Announces a change of the last batch. Every batch is judged as if that change were made, so that no record is deleted for a change that
   * is refused in the end.
   */
  intend(change: RecordedChange): void
}

type Writing = Pick<EngineContext, 'writes' | 'clock'>

/** Records that are read at a time to be changed. */
const READ_AT_ONCE = 100

/** Changes the records that match `where`, up to the end of a batch; true when no match is left. Damaged records stay as they are. */
export async function changeEach<R extends Resource>(
  tx: WriteTransaction,
  resource: R,
  where: Filter,
  batch: WriteBatch,
  changed: (record: RecordOf<R>) => RecordOf<R>,
): Promise<boolean> {
  const collection = collectionOf(tx, resource)
  for (let damaged = 0; ; ) {
    // Reads only ids: a page of records would count every match each time.
    const found = await collection.findIds({ where, limit: READ_AT_ONCE, offset: damaged })
    if (found.length === 0) return true
    for (const id of found) {
      if (batch.isOver()) return false
      const record = await ifReadable(() => collection.get(id))
      if (record === undefined) damaged += 1
      else await collection.update(changed(record))
      batch.count()
    }
  }
}

/** A batch without an end: one write does everything. */
export const WHOLE: WriteBatch = { count: () => undefined, isOver: () => false, intend: () => undefined }

/**
 * Runs `work` in one write after another until a write answers something else than {@link MORE}, and answers that. Long work comes first,
 * so that the last write makes all changes that must be atomic.
 */
export async function writeInBatches<T>(
  { writes, clock }: Writing,
  call: Call,
  work: (tx: WriteTransaction, batch: WriteBatch) => Promise<T | typeof MORE>,
  reasons?: EndReasons,
): Promise<T> {
  for (let isContinued = false; ; isContinued = true) {
    let intended: readonly RecordedChange[] = []
    const one = async (tx: WriteTransaction) => {
      const batch = newBatch(clock)
      const answer = await work(tx, batch)
      intended = answer === MORE ? batch.intended : []
      return answer
    }
    const done = await writes.run(call, one, reasons, { isContinued, intended: () => intended })
    if (done !== MORE) return done
  }
}

/** The same for independent items: resolves when each item has been handled. */
export async function writeEachInParts<T>(
  { writes, clock }: Writing,
  call: Call,
  things: readonly T[],
  work: (tx: WriteTransaction, thing: T) => Promise<unknown>,
): Promise<void> {
  for (let done = 0; done < things.length; ) {
    const one = async (tx: WriteTransaction) => {
      const batch = newBatch(clock)
      let seen = done
      for (const thing of things.slice(done, done + RECORDS)) {
        if (batch.isOver()) break
        await work(tx, thing)
        batch.count()
        seen += 1
      }
      return seen
    }
    done = await writes.run(call, one, {}, { isContinued: done > 0 })
  }
}

/** Begins the count of records and time of one write. */
export function newBatch(clock: Clock): WriteBatch & { readonly intended: readonly RecordedChange[] } {
  const begun = clock.now()
  const intended: RecordedChange[] = []
  let records = 0
  return {
    intended,
    intend: (change) => intended.push(change),
    count() {
      records += 1
    },
    isOver: () => records >= RECORDS || (records > 0 && clock.now() - begun >= MILLISECONDS),
  }
}
