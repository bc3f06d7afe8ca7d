import { Gate } from '../../concurrency/gate.ts'
import type { Change, ReadTransaction } from '../../ports/storage.ts'
import type { EngineContext } from '../context/context.ts'

/** Does what follows from changes of the store; undefined for changes that the feed does not tell any more. */
export type FollowChanges = (tx: ReadTransaction, changes: readonly Change[] | undefined) => Promise<void>

/**
 * Follows the change feed of the store, so that what other processes do is seen as what this one does. Looks are made one
 * after the other; one that is asked for while another waits is the same one.
 */
export class ChangeFollower {
  readonly #context: EngineContext
  readonly #follow: FollowChanges
  /** Everything up to it is followed; undefined before the first look. */
  #revision: number | undefined
  readonly #looks = new Gate(1)
  /** The look that is to come. */
  #next: Promise<void> | undefined

  constructor(context: EngineContext, follow: FollowChanges) {
    this.#context = context
    this.#follow = follow
  }

  /** Looks for changes soon; resolves when what there was by now is followed. */
  look(): Promise<void> {
    this.#next ??= this.#looks.run(() => this.#look())
    return this.#next
  }

  async #look(): Promise<void> {
    this.#next = undefined
    try {
      await this.#context.storage.read(async (tx) => {
        if (tx.revision === this.#revision) return
        const known = this.#revision
        const isBack = known !== undefined && tx.revision < known
        const changes = known === undefined || isBack ? undefined : await tx.changesSince(known)
        await this.#follow(tx, changes)
        this.#revision = tx.revision
      })
    } catch (error) {
      // The next look begins where this one did.
      this.#context.logger.error('changes could not be followed', { error: String(error) })
    }
  }
}
