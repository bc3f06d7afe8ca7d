import type { Filter } from '../../domain/filter/index.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { EndReasons } from '../context/writes.ts'

/** There is more to do than one write should. */
export const MORE = Symbol('more')

/** How many records are removed or changed in one write, and for how many ms at most; then other writers have their turn. */
const RECORDS = 200
const MILLISECONDS = 25

/** How much of something long one write does. */
export interface Part {
  /** One more record was removed or changed. */
  count(): void
  /** Reports whether the rest is for another write. */
  isOver(): boolean
}

/** How many records are read at a time to be changed. */
const READ_AT_ONCE = 100

/**
 * Changes the records that fulfil `where` until none does any more, as far as a part goes; answers whether none is left.
 * Damaged ones are left as they are.
 */
export async function changeEach(
  tx: WriteTransaction,
  resource: Resource,
  where: Filter,
  part: Part,
  changed: (record: RecordOf<Resource>) => RecordOf<Resource>,
): Promise<boolean> {
  const collection = tx.collection(resource)
  for (;;) {
    const { items, damaged = [] } = await collection.find({ where, limit: READ_AT_ONCE })
    // Where so many are damaged that nothing else comes first, all of them are read.
    const found = items.length === 0 && damaged.length > 0 ? (await collection.find({ where })).items : items
    if (found.length === 0) return true
    for (const record of found) {
      if (part.isOver()) return false
      await collection.update(changed(record))
      part.count()
    }
  }
}

/** A write that does everything. */
export const WHOLE: Part = { count: () => undefined, isOver: () => false }

/**
 * Runs `work` in as many writes as it takes until one answers something else than {@link MORE}, and answers that. What is
 * long comes first, so that the last write does what must be done at once.
 */
export async function writeInParts<T>(
  { writes, clock }: EngineContext,
  call: Call,
  work: (tx: WriteTransaction, part: Part) => Promise<T | typeof MORE>,
  reasons?: EndReasons,
): Promise<T> {
  for (let isContinued = false; ; isContinued = true) {
    const done = await writes.run(call, (tx) => work(tx, newPart(clock)), reasons, isContinued)
    if (done !== MORE) return done
  }
}

/** What one write may do from now on. */
export function newPart(clock: Clock): Part {
  const begun = clock.now()
  let records = 0
  return {
    count() {
      records += 1
    },
    isOver: () => records >= RECORDS || (records > 0 && clock.now() - begun >= MILLISECONDS),
  }
}
