import { Gate } from '../concurrency/gate.ts'
import { type Change, type HistoryPoint, isSamePoint, type ReadTransaction } from '../ports/record-storage.ts'

/** Brings what is derived up to a snapshot; everything afresh where `changes` is undefined. */
export type CatchUp = (tx: ReadTransaction, changes: readonly Change[] | undefined) => Promise<void>

/** The place of a snapshot in the history of its store, to be kept beyond the snapshot. */
export function placeOf({ revision, line }: HistoryPoint): HistoryPoint {
  return { revision, line }
}

/** The changes since a place that was seen before; undefined where everything has to be read afresh, as at the first time. */
export async function changesAfter(
  tx: ReadTransaction,
  known: HistoryPoint | undefined,
): Promise<readonly Change[] | undefined> {
  return known === undefined || known.revision > tx.revision ? undefined : tx.changesSince(known.revision, known.line)
}

/**
 * Keeps what is derived from the store level with it, by the change feed alone: what another process over the same store
 * writes is seen as what this one does, and a question costs what changed since the one before.
 */
export class StoreLevel {
  readonly #catchUp: CatchUp
  readonly #latest: (() => Promise<HistoryPoint>) | undefined
  readonly #steps = new Gate(1)
  /** Everything up to it has been taken in; undefined before the first snapshot. */
  #place: HistoryPoint | undefined
  /** Some of the changes after `#place` have been taken in already. */
  #isMoving = false
  #checking: Promise<void> | undefined

  /** `latest` asks the store, in a snapshot of its own, where it is; without it a lower revision is not noticed. */
  constructor(catchUp: CatchUp, latest?: () => Promise<HistoryPoint>) {
    this.#catchUp = catchUp
    this.#latest = latest
  }

  /** Everything up to it has been taken in; -1 before the first snapshot. */
  get revision(): number {
    return this.#place?.revision ?? -1
  }

  /** From now on it is known what the snapshot holds, or a later one. */
  async reach(tx: ReadTransaction): Promise<void> {
    // A snapshot that cannot be read keeps no later one from being read.
    if (this.#isAhead(tx)) await this.#steps.run(() => this.#step(tx))
    else if (this.#place !== undefined && tx.revision < this.#place.revision)
      this.#checking ??= this.#noticeRestore(this.#place)
  }

  /** Reports whether it is known exactly what the snapshot holds, and nothing later. */
  isAt(tx: ReadTransaction): boolean {
    return !this.#isMoving && this.#place !== undefined && isSamePoint(this.#place, tx)
  }

  async #step(tx: ReadTransaction): Promise<void> {
    if (!this.#isAhead(tx)) return
    const changes = await changesAfter(tx, this.#place)
    this.#isMoving = changes !== undefined
    await this.#catchUp(tx, changes)
    this.#isMoving = false
    this.#place = placeOf(tx)
  }

  /** Whether a snapshot holds what was not taken in: later commits, or other ones in the place of commits that were lost. */
  #isAhead(tx: ReadTransaction): boolean {
    const { revision, line } = this.#place ?? { revision: -1 }
    return revision < tx.revision || (revision === tx.revision && line !== tx.line)
  }

  /**
   * Starts afresh where the store went back: an older snapshot may only have begun early, but one that begins now must reach
   * `known`. Nobody waits for it, because the caller may hold the only connection.
   */
  async #noticeRestore(known: HistoryPoint): Promise<void> {
    try {
      const latest = await this.#latest?.()
      if (latest !== undefined && latest.revision < known.revision) this.#place = undefined
    } catch {
      // A store that is away is asked again by the next older snapshot.
    } finally {
      this.#checking = undefined
    }
  }
}
