import type { Limits } from '../base/limits.ts'
import { callIsolated, runEach } from '../concurrency/call-isolated.ts'
import { Gate } from '../concurrency/gate.ts'
import type { SessionEnd } from '../facts/network/events.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import {
  type ReadTransaction,
  type Storage,
  StorageUnavailable,
  type WriteTransaction,
} from '../ports/record-storage.ts'
import type { Logger, Turns } from '../ports/runtime.ts'
import { logFailure } from './background-failure.ts'
import type { Call } from './call.ts'
import { asIntended } from './intended-changes.ts'
import { limiting, type RecordedChange, recording } from './recorded-changes.ts'

/** The reasons for which sessions end in a write, where they do not follow from the write itself. */
export interface EndReasons {
  /** Of all service sessions, or by their ids. */
  readonly sessions?: SessionEnd | ReadonlyMap<string, SessionEnd>
  readonly apiSessions?: 'timeout' | 'identity-deleted'
}

/** A write: its call, and its changes in order. */
export interface RecordedWrite {
  readonly call: Call
  readonly changes: readonly RecordedChange[]
  readonly reasons: EndReasons
}

/** The relation between the writes of one long change. */
export interface Continuation {
  /** The write continues a change whose caller has been judged. */
  readonly isContinued?: boolean
  /** The changes of the last write: every write is judged as if they were made. */
  readonly intended?: () => readonly RecordedChange[]
}

/** A resource whose changes have consequences. */
type Followed = Pick<Resource, 'name'>

/** Adds dependent changes to a write, within that write. */
export type WriteAmendment = (tx: WriteTransaction, changes: readonly RecordedChange[]) => Promise<void>

/**
 * Judges a write with all its changes before the commit. Throws to refuse the write; nothing is written then. In a write that others
 * continue, the guard sees the records as the last write will leave them.
 */
export type WriteGuard = (tx: ReadTransaction, write: RecordedWrite) => Promise<void>

/** Records the changes of all writes of a commit and their calls, within it; the records themselves do not count as changes. */
export type WriteRecorder = (tx: WriteTransaction, writes: readonly RecordedWrite[]) => Promise<void>

/** Judges the caller of a write, within its transaction. Throws to refuse the write. */
export type WriteAdmission = (tx: WriteTransaction, call: Call) => Promise<void>

/** Carries out the consequences of a committed write before the writer is answered. */
export type WriteFollower = (write: RecordedWrite) => void | Promise<void>

/** Receives the outcome of a write to the storage: `undefined` for a commit, else the error. It does not throw. */
export type WriteWatcher = (error: unknown) => void

/** Reports a committed write to others. Nothing depends on it: a failure is logged, and no caller gets it. */
export type WriteListener = (write: RecordedWrite) => void

/** The part of a storage that writes. */
type WritePort = Omit<Storage, 'read' | 'snapshot' | 'close' | 'isVolatile'>

/** Writes that one commit of the storage holds, together with changes of others. */
export interface JoinedWrites {
  /** Each write is judged by itself, sees the earlier writes, and resolves before the commit. */
  readonly writes: Writes
  /** Records the writes, as the last work before the commit. Rejects with the refusal of a write, also where its caller caught it. */
  settle(): Promise<void>
  /** After the commit: runs the followers of every write and reports the writes to listeners. Rejects as {@link Writes.run} does. */
  committed(): Promise<void>
}

/**
 * The only way to write. The consequences of a write are registered here once, and no writer can forget them: services see a read-only
 * storage.
 */
export class Writes {
  readonly #storage: WritePort
  readonly #limits: Limits
  readonly #turns: Turns
  #admission: WriteAdmission | undefined
  readonly #amendments: WriteAmendment[] = []
  readonly #guards: WriteGuard[] = []
  #recorder: WriteRecorder | undefined
  readonly #followers: WriteFollower[] = []
  readonly #listeners: WriteListener[] = []
  readonly #logger: Pick<Logger, 'error'>
  /** Committed writes that were not reported to listeners yet, in the order of commits. */
  readonly #untold: RecordedWrite[] = []
  #isTelling = false
  #watcher: WriteWatcher | undefined
  #onDoubt: () => void = () => undefined
  /** The writes up to now, where they are committed by another. */
  #joined: RecordedWrite[] | undefined

  /** `turns` shares the thread during writes of many records. */
  constructor(storage: WritePort, limits: Limits, logger: Pick<Logger, 'error'>, turns: Turns) {
    this.#storage = storage
    this.#turns = turns
    this.#limits = limits
    this.#logger = logger
  }

  /** From now on `watcher` receives the outcome of each write with changes. */
  watch(watcher: WriteWatcher): void {
    this.#watcher = watcher
  }

  /**
   * From now on `listener` is called after a commit with an unknown outcome: the storage received it and did not answer. The write rejects
   * and no follower runs, although the changes may be stored.
   */
  doubt(listener: () => void): void {
    this.#onDoubt = listener
  }

  /** From now on `admission` judges the caller of each write before its work begins. */
  admit(admission: WriteAdmission): void {
    this.#admission = admission
  }

  /**
   * From now on `amendment` runs at the end of every write that changed one of the resources, and is committed or rolled back with it.
   * Without resources it runs in every write with changes.
   */
  amend(amendment: WriteAmendment, resources?: readonly Followed[]): void {
    const concerns = concerning(resources)
    this.#amendments.push(async (tx, changes) => {
      if (concerns(changes)) await amendment(tx, changes)
    })
  }

  /** From now on `guard` judges every write with changes, within its transaction. */
  guard(guard: WriteGuard): void {
    this.#guards.push(guard)
  }

  /** From now on `recorder` runs at the very end of every write with changes, and is committed with it. */
  record(recorder: WriteRecorder): void {
    this.#recorder = recorder
  }

  /**
   * From now on `follower` runs after every write that changed one of the resources, in the order of registration. Without resources it
   * runs after every write with changes.
   */
  follow(follower: WriteFollower, resources?: readonly Followed[]): void {
    const concerns = concerning(resources)
    this.#followers.push((write) => (concerns(write.changes) ? follower(write) : undefined))
  }

  /**
   * From now on `listener` receives every write that changed one of the resources, in the order of commits. Without resources it receives
   * every write with changes.
   */
  tell(listener: WriteListener, resources?: readonly Followed[]): void {
    const concerns = concerning(resources)
    this.#listeners.push((write) => (concerns(write.changes) ? listener(write) : undefined))
  }

  /**
   * Reports every committed write to the listeners, also while its followers are still at work. A caller that reports another event calls
   * this first, so that no consequence is reported before its cause.
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
   * Runs `work` as one write. After the commit it runs every follower in order, also after a failure, then reports the write to the
   * listeners and answers what `work` answered. It rejects with the first failure of a follower, although the change is committed; further
   * failures are logged. Errors: `COULD_NOT_VALIDATE` naming a field above the {@link Limits} and the limit; `UNAUTHORIZED` for a caller
   * whose session or rights have ended, unless the write continues an admitted write. Nothing is changed then.
   */
  async run<T>(
    call: Call,
    work: (tx: WriteTransaction) => Promise<T>,
    reasons: EndReasons = {},
    { isContinued = false, intended = () => [] }: Continuation = {},
  ): Promise<T> {
    const changes: RecordedChange[] = []
    const write = { call, changes, reasons }
    const written = this.#transaction(async (tx, atCommit) => {
      changes.length = 0
      if (!isContinued) await this.#admission?.(tx, call)
      const recorded = limiting(recording(tx, changes, this.#turns.begin()), this.#limits)
      const answer = await work(recorded)
      const made = [...changes]
      if (made.length > 0) for (const amendment of this.#amendments) await amendment(recorded, made)
      const further = intended()
      const judged = [...made, ...further]
      const seen = further.length === 0 ? tx : asIntended(tx, further)
      for (const guard of judged.length === 0 ? [] : this.#guards) await guard(seen, { call, changes: judged, reasons })
      if (changes.length > 0) {
        await this.#recorder?.(tx, [write])
        atCommit()
      }
      return answer
    })
    const result = await written.catch((error: unknown) => {
      this.#watcher?.(error)
      throw error
    })
    if (changes.length === 0) return result
    if (this.#joined === undefined) await this.#committed([write])
    else this.#joined.push(write)
    return result
  }

  /** Runs work whose writes one commit holds: all or none. Rejects as {@link Writes.run} does. */
  async together<T>(work: (tx: WriteTransaction, writes: Writes) => Promise<T>): Promise<T> {
    const { answer, joined } = await this.#transaction(async (tx, atCommit) => {
      const begun = this.join(tx)
      const done = await work(tx, begun.writes)
      await begun.settle()
      atCommit()
      return { answer: done, joined: begun }
    })
    await joined.committed()
    return answer
  }

  /**
   * Runs the work of one commit. The storage runs it again when the database asks for a retry. Where the storage fails after `atCommit` was
   * called, the changes may be there.
   */
  async #transaction<T>(work: (tx: WriteTransaction, atCommit: () => void) => Promise<T>): Promise<T> {
    let isCommitting = false
    try {
      return await this.#storage.write((tx) => {
        isCommitting = false
        return work(tx, () => {
          isCommitting = true
        })
      })
    } catch (error) {
      const isUnanswered = error instanceof StorageUnavailable && error.reason === 'unreachable'
      if (isCommitting && isUnanswered) this.#onDoubt()
      throw error
    }
  }

  /**
   * Begins writes within a transaction of the storage that somebody else commits. They run one after the other. The storage may run the
   * work of the transaction again; each run begins new ones.
   */
  join(tx: WriteTransaction): JoinedWrites {
    const turns = new Gate(1)
    const made: RecordedWrite[] = []
    let refusal: { readonly error: unknown } | undefined
    const write = async <T>(work: (tx: WriteTransaction) => Promise<T>): Promise<T> => {
      try {
        return await turns.run(() => work(tx))
      } catch (error) {
        refusal ??= { error }
        throw error
      }
    }
    const writes = new Writes({ write }, this.#limits, this.#logger, this.#turns)
    writes.#admission = this.#admission
    writes.#amendments.push(...this.#amendments)
    writes.#guards.push(...this.#guards)
    writes.#joined = made
    return {
      writes,
      settle: async () => {
        await turns.idle()
        if (refusal !== undefined) throw refusal.error
        if (made.length > 0) await this.#recorder?.(tx, made)
      },
      committed: async () => {
        if (made.length > 0) await this.#committed(made)
      },
    }
  }

  async #committed(writes: readonly RecordedWrite[]): Promise<void> {
    this.#watcher?.(undefined)
    this.#untold.push(...writes)
    try {
      const works = writes.flatMap((write) => this.#followers.map((follower) => () => follower(write)))
      await runEach(works, (error) =>
        logFailure(this.#logger, 'more than one thing that follows from a write failed', error),
      )
    } finally {
      this.tellCommitted()
    }
  }
}

/** Selects changes of the resources; every change without resources. */
function concerning(resources: readonly Followed[] | undefined): (changes: readonly RecordedChange[]) => boolean {
  if (resources === undefined) return () => true
  const kinds = new Set(resources.map(({ name }) => name))
  return (changes) => changes.some(({ kind }) => kinds.has(kind))
}
