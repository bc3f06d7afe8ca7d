import type { ConnectionSource } from '../driver/connections.ts'
import type { ChangeFeed, StoredState } from '../records/change-feed.ts'

/**
 * Asks a database where it stands. Those who ask while a look is under way share the next one: each sees what was committed
 * when it asked, and a hundred at a time cost little more than one.
 */
export class SharedLook {
  readonly #readers: ConnectionSource
  readonly #feed: ChangeFeed
  #underWay: Promise<unknown> | undefined
  #next: Promise<StoredState> | undefined

  constructor(readers: ConnectionSource, feed: ChangeFeed) {
    this.#readers = readers
    this.#feed = feed
  }

  /** The state of the database at a moment after the call. */
  take(): Promise<StoredState> {
    this.#next ??= this.#takeNext()
    return this.#next
  }

  async #takeNext(): Promise<StoredState> {
    await this.#underWay
    // From here on it is too late to join this look.
    this.#next = undefined
    const look = this.#readers.use((connection) => this.#feed.read(connection))
    const over = look.then(nothing, nothing)
    this.#underWay = over
    try {
      return await look
    } finally {
      if (this.#underWay === over) this.#underWay = undefined
    }
  }
}

function nothing(): void {}
