import type { Limits } from '../../domain/limits.ts'
import type { SessionEnd } from '../../ports/events.ts'
import type { Storage, WriteTransaction } from '../../ports/storage.ts'
import type { Call } from './call.ts'
import { limiting } from './record-limits.ts'
import { type RecordedChange, recording } from './recorded-changes.ts'

/** Why sessions end in a write, where that does not follow from the write itself. */
export interface EndReasons {
  /** Of all service sessions, or by their ids. */
  readonly sessions?: SessionEnd | ReadonlyMap<string, SessionEnd>
  readonly apiSessions?: 'timeout' | 'identity-deleted'
}

/** A write: who asked for it, and what it changed, in order. */
export interface RecordedWrite {
  readonly call: Call
  readonly changes: readonly RecordedChange[]
  readonly reasons: EndReasons
}

/** What a write is to one that it continues, or that continues it. */
export interface Continuation {
  /** It goes on with what its caller asked for and was judged for before. */
  readonly isContinued?: boolean
  /** What the last of them will change: every one is judged as if it did so. */
  readonly intended?: () => readonly RecordedChange[]
}

/** Writes what belongs to the changes of a write, within that write. */
export type WriteAmendment = (tx: WriteTransaction, changes: readonly RecordedChange[]) => Promise<void>

/** Judges a write before it is committed, with everything that it changed. Throws to refuse it; nothing is written then. */
export type WriteGuard = (tx: WriteTransaction, write: RecordedWrite) => Promise<void>

/** Judges who asks for a write, within its transaction. Throws to refuse it. */
export type WriteAdmission = (tx: WriteTransaction, call: Call) => Promise<void>

/** Does what follows from a committed write, before the writer is answered. */
export type WriteFollower = (write: RecordedWrite) => void | Promise<void>

/**
 * The one way to write. What must follow from a write is registered here once and cannot be forgotten by a writer: services
 * see a storage that only reads.
 */
export class Writes {
  readonly #storage: Storage
  readonly #limits: Limits
  #admission: WriteAdmission | undefined
  readonly #amendments: WriteAmendment[] = []
  readonly #guards: WriteGuard[] = []
  readonly #followers: WriteFollower[] = []

  constructor(storage: Storage, limits: Limits) {
    this.#storage = storage
    this.#limits = limits
  }

  /** From now on `admission` judges who asks for a write, before its work begins. */
  admit(admission: WriteAdmission): void {
    this.#admission = admission
  }

  /** From now on `amendment` is run at the end of every write that changed something, and is committed or undone with it. */
  amend(amendment: WriteAmendment): void {
    this.#amendments.push(amendment)
  }

  /** From now on `guard` judges every write that changed something, within its transaction. */
  guard(guard: WriteGuard): void {
    this.#guards.push(guard)
  }

  /** From now on `follower` is run after every write that changed something, after those that were registered before it. */
  follow(follower: WriteFollower): void {
    this.#followers.push(follower)
  }

  /**
   * Runs `work` as one write, and after its commit all followers in order; then answers what `work` answered. A follower
   * that throws is the writer's failure, although its change is committed. Error: `COULD_NOT_VALIDATE` naming a field that is
   * larger than the {@link Limits} and the limit, `UNAUTHORIZED` for a caller whose session or rights are gone by now, unless
   * the write continues one that it asked for; nothing is changed then.
   */
  async run<T>(
    call: Call,
    work: (tx: WriteTransaction) => Promise<T>,
    reasons: EndReasons = {},
    { isContinued = false, intended = () => [] }: Continuation = {},
  ): Promise<T> {
    const changes: RecordedChange[] = []
    const result = await this.#storage.write(async (tx) => {
      // A storage may run the work again when the database asks for it.
      changes.length = 0
      if (!isContinued) await this.#admission?.(tx, call)
      const recorded = limiting(recording(tx, changes), this.#limits)
      const answer = await work(recorded)
      const made = [...changes]
      if (made.length > 0) for (const amendment of this.#amendments) await amendment(recorded, made)
      const judged = [...made, ...intended()]
      for (const guard of judged.length === 0 ? [] : this.#guards) await guard(tx, { call, changes: judged, reasons })
      return answer
    })
    if (changes.length === 0) return result
    for (const follower of this.#followers) await follower({ call, changes, reasons })
    return result
  }
}
