import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { RecordedChange } from '../context/recorded-changes.ts'
import type { EndReasons } from '../context/writes.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import type { Filter } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { Clock } from '../ports/runtime.ts'
import { collectionOf, ifReadable } from './read-records.ts'

/** There is more to do than one write should. */
export const MORE = Symbol('more')

/** How many records are removed or changed in one write, and for how many ms at most; then other writers have their turn. */
const RECORDS = 100
const MILLISECONDS = 20

/** How much of something long one write does. */
export interface WriteBatch {
  /** One more record was removed or changed. */
  count(): void
  /** Reports whether the rest is for another write. */
  isOver(): boolean
  /**
   * Announces a change of the last batch: every batch is judged as if that were done, so that nothing goes for one that is
   * refused in the end.
   */
  intend(change: RecordedChange): void
}

type Writing = Pick<EngineContext, 'writes' | 'clock'>

/** How many records are read at a time to be changed. */
const READ_AT_ONCE = 100

/**
 * Changes the records that fulfil `where` until none does any more, as far as a batch goes; answers whether none is left.
 * Damaged ones are left as they are.
 */
export async function changeEach<R extends Resource>(
  tx: WriteTransaction,
  resource: R,
  where: Filter,
  batch: WriteBatch,
  changed: (record: RecordOf<R>) => RecordOf<R>,
): Promise<boolean> {
  const collection = collectionOf(tx, resource)
  for (let damaged = 0; ; ) {
    // Only ids are asked for: with a page of records every match would be counted, each time.
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

/** A write that does everything. */
export const WHOLE: WriteBatch = { count: () => undefined, isOver: () => false, intend: () => undefined }

/**
 * Runs `work` in as many writes as it takes until one answers something else than {@link MORE}, and answers that. What is
 * long comes first, so that the last write does what must be done at once.
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

/** The same for things that need nothing of one another: answers when each of them was seen to. */
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

/** Begins the measure of one write: the records and the time that it may still take. */
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
