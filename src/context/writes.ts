import type { Limits } from '../base/limits.ts'
import { callIsolated, runEach } from '../concurrency/call-isolated.ts'
import type { SessionEnd } from '../facts/network/events.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import type { ReadTransaction, Storage, WriteTransaction } from '../ports/record-storage.ts'
import type { Logger } from '../ports/runtime.ts'
import { logFailure } from './background-failure.ts'
import type { Call } from './call.ts'
import { asIntended } from './intended-changes.ts'
import { limiting, type RecordedChange, recording } from './recorded-changes.ts'

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

/** The relation of a write to one that it continues, or that continues it. */
export interface Continuation {
  /** It goes on with what its caller asked for and was judged for before. */
  readonly isContinued?: boolean
  /** Tells the changes of the last of them: every one is judged as if they were made. */
  readonly intended?: () => readonly RecordedChange[]
}

/** A resource by whose changes something follows. */
type Followed = Pick<Resource, 'name'>

/** Writes what belongs to the changes of a write, within that write. */
export type WriteAmendment = (tx: WriteTransaction, changes: readonly RecordedChange[]) => Promise<void>

/**
 * Judges a write before it is committed, with everything that it changed. Throws to refuse it; nothing is written then. Of a write
 * that others continue, it is shown the records as the last of them will leave them.
 */
export type WriteGuard = (tx: ReadTransaction, write: RecordedWrite) => Promise<void>

/** Writes down what a write changed, and who asked for it, within that write; its own records are no changes of it. */
export type WriteRecorder = (tx: WriteTransaction, write: RecordedWrite) => Promise<void>

/** Judges who asks for a write, within its transaction. Throws to refuse it. */
export type WriteAdmission = (tx: WriteTransaction, call: Call) => Promise<void>

/** Does what follows from a committed write, before the writer is answered. */
export type WriteFollower = (write: RecordedWrite) => void | Promise<void>

/** Hears how a write to the storage ended: with `undefined` where it was committed, else with the error. It does not throw. */
export type WriteWatcher = (error: unknown) => void

/** Tells others of a committed write. Nothing depends on it: a failure is logged, and no caller gets it. */
export type WriteListener = (write: RecordedWrite) => void

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
  #recorder: WriteRecorder | undefined
  readonly #followers: WriteFollower[] = []
  readonly #listeners: WriteListener[] = []
  readonly #logger: Pick<Logger, 'error'>
  /** Committed writes whose followers did not run yet, in the order of their commits. */
  readonly #untold: RecordedWrite[] = []
  #isTelling = false
  #watcher: WriteWatcher | undefined

  constructor(storage: Storage, limits: Limits, logger: Pick<Logger, 'error'>) {
    this.#storage = storage
    this.#limits = limits
    this.#logger = logger
  }

  /** From now on `watcher` hears how each write that changes something ends. */
  watch(watcher: WriteWatcher): void {
    this.#watcher = watcher
  }

  /** From now on `admission` judges who asks for a write, before its work begins. */
  admit(admission: WriteAdmission): void {
    this.#admission = admission
  }

  /**
   * From now on `amendment` is run at the end of every write that changed one of the resources, and is committed or undone with it;
   * where none is named, of every write that changed something.
   */
  amend(amendment: WriteAmendment, resources?: readonly Followed[]): void {
    const concerns = concerning(resources)
    this.#amendments.push(async (tx, changes) => {
      if (concerns(changes)) await amendment(tx, changes)
    })
  }

  /** From now on `guard` judges every write that changed something, within its transaction. */
  guard(guard: WriteGuard): void {
    this.#guards.push(guard)
  }

  /** From now on `recorder` is run at the very end of every write that changed something, and is committed with it. */
  record(recorder: WriteRecorder): void {
    this.#recorder = recorder
  }

  /**
   * From now on `follower` is run after every write that changed one of the resources, after those that were registered before it;
   * where none is named, after every write that changed something.
   */
  follow(follower: WriteFollower, resources?: readonly Followed[]): void {
    const concerns = concerning(resources)
    this.#followers.push((write) => (concerns(write.changes) ? follower(write) : undefined))
  }

  /**
   * From now on `listener` hears of every write that changed one of the resources, in the order of commits; where none is named, of
   * every write that changed something.
   */
  tell(listener: WriteListener, resources?: readonly Followed[]): void {
    const concerns = concerning(resources)
    this.#listeners.push((write) => (concerns(write.changes) ? listener(write) : undefined))
  }

  /**
   * Tells listeners of every write that is committed by now, those included whose followers are still at work. A caller that tells
   * of something else calls it first: a consequence is never heard of before its cause.
   */
  tellCommitted(): void {
    if (this.#isTelling) return
    this.#isTelling = true
    const failed = (error: unknown) =>
      this.#logger.error('a committed write could not be told of', { error: String(error) })
    for (let write = this.#untold.shift(); write !== undefined; write = this.#untold.shift()) {
      const told = write
      for (const listener of this.#listeners) callIsolated(() => listener(told), failed)
    }
    this.#isTelling = false
  }

  /**
   * Runs `work` as one write, and after its commit every follower in order, whether or not one before it failed; then tells
   * listeners and answers what `work` answered. The first failure of a follower is the writer's, although its change is
   * committed; further ones are logged. Error: `COULD_NOT_VALIDATE` naming a field that is
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
    const written = this.#storage.write(async (tx) => {
      // A storage may run the work again when the database asks for it.
      changes.length = 0
      if (!isContinued) await this.#admission?.(tx, call)
      const recorded = limiting(recording(tx, changes), this.#limits)
      const answer = await work(recorded)
      const made = [...changes]
      if (made.length > 0) for (const amendment of this.#amendments) await amendment(recorded, made)
      const further = intended()
      const judged = [...made, ...further]
      const seen = further.length === 0 ? tx : asIntended(tx, further)
      for (const guard of judged.length === 0 ? [] : this.#guards) await guard(seen, { call, changes: judged, reasons })
      if (changes.length > 0) await this.#recorder?.(tx, { call, changes, reasons })
      return answer
    })
    const result = await written.catch((error: unknown) => {
      this.#watcher?.(error)
      throw error
    })
    if (changes.length === 0) return result
    this.#watcher?.(undefined)
    const write = { call, changes, reasons }
    this.#untold.push(write)
    try {
      const works = this.#followers.map((follower) => () => follower(write))
      await runEach(works, (error) =>
        logFailure(this.#logger, 'more than one thing that follows from a write failed', error),
      )
    } finally {
      this.tellCommitted()
    }
    return result
  }
}

/** Tells whether changes concern one of the resources; every change concerns where none is named. */
function concerning(resources: readonly Followed[] | undefined): (changes: readonly RecordedChange[]) => boolean {
  if (resources === undefined) return () => true
  const kinds = new Set(resources.map(({ name }) => name))
  return (changes) => changes.some(({ kind }) => kinds.has(kind))
}
