import { Gate } from '../../concurrency/gate.ts'
import type { Change, ReadTransaction } from '../../ports/record-storage.ts'

/** Brings what is derived up to a snapshot; everything afresh where `changes` is undefined. */
export type CatchUp = (tx: ReadTransaction, changes: readonly Change[] | undefined) => Promise<void>

/**
 * Keeps what is derived from the store level with it, by the change feed alone: what another process over the same store
 * writes is seen as what this one does, and a question costs what changed since the one before.
 */
export class StoreLevel {
  readonly #catchUp: CatchUp
  readonly #latestRevision: (() => Promise<number>) | undefined
  readonly #steps = new Gate(1)
  #revision = -1
  /** Some of the changes after `#revision` have been taken in already. */
  #isMoving = false
  #checking: Promise<void> | undefined

  /** `latestRevision` asks the store, in a snapshot of its own, for its revision; without it nothing is restored. */
  constructor(catchUp: CatchUp, latestRevision?: () => Promise<number>) {
    this.#catchUp = catchUp
    this.#latestRevision = latestRevision
  }

  /** Everything up to it has been taken in; -1 before the first snapshot. */
  get revision(): number {
    return this.#revision
  }

  /** From now on it is known what the snapshot holds, or a later one. */
  async reach(tx: ReadTransaction): Promise<void> {
    // A snapshot that cannot be read keeps no later one from being read.
    if (this.#revision < tx.revision) await this.#steps.run(() => this.#step(tx))
    else if (tx.revision < this.#revision) this.#checking ??= this.#noticeRestore(this.#revision)
  }

  /** Reports whether it is known exactly what the snapshot holds, and nothing later. */
  isAt(tx: ReadTransaction): boolean {
    return !this.#isMoving && this.#revision === tx.revision
  }

  async #step(tx: ReadTransaction): Promise<void> {
    if (this.#revision >= tx.revision) return
    const changes = this.#revision < 0 ? undefined : await tx.changesSince(this.#revision)
    this.#isMoving = changes !== undefined
    await this.#catchUp(tx, changes)
    this.#isMoving = false
    this.#revision = tx.revision
  }

  /**
   * Starts afresh where the store went back: an older snapshot may only have begun early, but one that begins now must reach
   * `known`. Nobody waits for it, because whoever asks may hold the only connection.
   */
  async #noticeRestore(known: number): Promise<void> {
    try {
      const latest = await this.#latestRevision?.()
      if (latest !== undefined && latest < known) this.#revision = -1
    } catch {
      // A store that is away is asked again by the next older snapshot.
    } finally {
      this.#checking = undefined
    }
  }
}
