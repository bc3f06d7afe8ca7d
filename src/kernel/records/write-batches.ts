import type { Filter } from '../../domain/filter/index.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { RecordedChange } from '../context/recorded-changes.ts'
import type { EndReasons } from '../context/writes.ts'
import { collectionOf } from './collection-of.ts'
import { ifReadable } from './damaged-records.ts'

/** There is more to do than one write should. */
export const MORE = Symbol('more')

/** How many records are removed or changed in one write, and for how many ms at most; then other writers have their turn. */
const RECORDS = 100
const MILLISECONDS = 20

/** How much of something long one write does. */
export interface Part {
  /** One more record was removed or changed. */
  count(): void
  /** Reports whether the rest is for another write. */
  isOver(): boolean
  /** What the last part will do: every part is judged as if it did so, so that nothing goes for what is refused in the end. */
  intend(change: RecordedChange): void
}

type Writing = Pick<EngineContext, 'writes' | 'clock'>

/** How many records are read at a time to be changed. */
const READ_AT_ONCE = 100

/**
 * Changes the records that fulfil `where` until none does any more, as far as a part goes; answers whether none is left.
 * Damaged ones are left as they are.
 */
export async function changeEach<R extends Resource>(
  tx: WriteTransaction,
  resource: R,
  where: Filter,
  part: Part,
  changed: (record: RecordOf<R>) => RecordOf<R>,
): Promise<boolean> {
  const collection = collectionOf(tx, resource)
  for (let damaged = 0; ; ) {
    // Only ids are asked for: with a page of records all that match would be counted, each time.
    const found = await collection.findIds({ where, limit: READ_AT_ONCE, offset: damaged })
    if (found.length === 0) return true
    for (const id of found) {
      if (part.isOver()) return false
      const record = await ifReadable(() => collection.get(id))
      if (record === undefined) damaged += 1
      else await collection.update(changed(record))
      part.count()
    }
  }
}

/** A write that does everything. */
export const WHOLE: Part = { count: () => undefined, isOver: () => false, intend: () => undefined }

/**
 * Runs `work` in as many writes as it takes until one answers something else than {@link MORE}, and answers that. What is
 * long comes first, so that the last write does what must be done at once.
 */
export async function writeInParts<T>(
  { writes, clock }: Writing,
  call: Call,
  work: (tx: WriteTransaction, part: Part) => Promise<T | typeof MORE>,
  reasons?: EndReasons,
): Promise<T> {
  for (let isContinued = false; ; isContinued = true) {
    let intended: readonly RecordedChange[] = []
    const one = async (tx: WriteTransaction) => {
      const part = newPart(clock)
      const answer = await work(tx, part)
      intended = answer === MORE ? part.intended : []
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
      const part = newPart(clock)
      let seen = done
      for (const thing of things.slice(done, done + RECORDS)) {
        if (part.isOver()) break
        await work(tx, thing)
        part.count()
        seen += 1
      }
      return seen
    }
    done = await writes.run(call, one, {}, { isContinued: done > 0 })
  }
}

/** What one write may do from now on. */
export function newPart(clock: Clock): Part & { readonly intended: readonly RecordedChange[] } {
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
