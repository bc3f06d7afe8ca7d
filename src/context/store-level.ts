import { Gate } from '../concurrency/gate.ts'
import { type Change, type HistoryPoint, isSamePoint, type ReadTransaction } from '../ports/record-storage.ts'

/** Brings derived state up to a snapshot; rebuilds it where `changes` is undefined. */
export type CatchUp = (tx: ReadTransaction, changes: readonly Change[] | undefined) => Promise<void>

/** The place of a snapshot in the history of its store, without the snapshot itself. */
export function placeOf({ revision, line }: HistoryPoint): HistoryPoint {
  return { revision, line }
}

/** The changes since a known place; undefined where everything must be read again, as at the first time. */
export async function changesAfter(
  tx: ReadTransaction,
  known: HistoryPoint | undefined,
): Promise<readonly Change[] | undefined> {
  return known === undefined || known.revision > tx.revision ? undefined : tx.changesSince(known.revision, known.line)
}

/**
 * Keeps derived state level with the store, by the change feed alone. Writes of other processes over the same store are seen like writes of
 * this process. The cost depends on the number of changes since the last time.
 */
export class StoreLevel {
  readonly #catchUp: CatchUp
  readonly #latest: (() => Promise<HistoryPoint>) | undefined
  readonly #steps = new Gate(1)
  /** The place of the last snapshot that was taken in completely; undefined before the first. */
  #place: HistoryPoint | undefined
  /** True when some of the changes after `#place` have been taken in, also after a failure. */
  #isMoving = false
  #checking: Promise<void> | undefined

  /** `latest` reads the store's place in a snapshot of its own. Without it a lower revision is not noticed. */
  constructor(catchUp: CatchUp, latest?: () => Promise<HistoryPoint>) {
    this.#catchUp = catchUp
    this.#latest = latest
  }

  /** The revision of the last snapshot that was taken in completely; -1 before the first. */
  get revision(): number {
    return this.#place?.revision ?? -1
  }

  /** Brings the derived state up to the snapshot, unless it is there or later. */
  async reach(tx: ReadTransaction): Promise<void> {
    // An unreadable snapshot does not keep later snapshots from being read.
    if (this.#isAhead(tx)) await this.#steps.run(() => this.#step(tx))
    else if (this.#place !== undefined && tx.revision < this.#place.revision)
      this.#checking ??= this.#noticeRestore(this.#place)
  }

  /** Reports whether the derived state is exactly the snapshot's, and no later one. */
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

  /** Reports whether a snapshot holds commits that were not taken in: later commits, or commits in place of lost commits. */
  #isAhead(tx: ReadTransaction): boolean {
    const { revision, line } = this.#place ?? { revision: -1 }
    return revision < tx.revision || (revision === tx.revision && line !== tx.line)
  }

  /**
   * Forgets the place if the store went back, so that the next snapshot rebuilds the derived state. An older snapshot may only have begun
   * early, but a new snapshot must reach `known`. The caller does not wait, because it may hold the only connection.
   */
  async #noticeRestore(known: HistoryPoint): Promise<void> {
    try {
      const latest = await this.#latest?.()
      if (latest !== undefined && latest.revision < known.revision) this.#place = undefined
    } catch {
      // The next older snapshot asks an unreachable store again.
    } finally {
      this.#checking = undefined
    }
  }
}
