/** How long a scan may hold the event loop at once, in ms. */
const SLICE = 5

/** Hands out the event loop to long scans, one slice of one scan per turn of the loop, first come first served. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Answers undefined while a slice begun at `since` (ms, monotonic) may go on, else a promise of the next turn. */
  afterSlice(since: number): Promise<void> | undefined {
    if (performance.now() - since < SLICE) return undefined
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#last
  }
}
