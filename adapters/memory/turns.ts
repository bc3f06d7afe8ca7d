/** How long a scan may hold the event loop at once, in ms. */
const SLICE = 5

/** Hands out the event loop to long scans, one slice of one scan per turn of the loop, first come first served. */
export class Turns {
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  /** When a scan that starts now began its slice (ms, monotonic): long ago when others wait, so that it soon waits too. */
  begin(): number {
    return this.#waiting > 0 ? Number.NEGATIVE_INFINITY : performance.now()
  }

  /** Answers undefined while a slice begun at `since` (ms, monotonic) may go on, else a promise of the next turn. */
  afterSlice(since: number): Promise<void> | undefined {
    if (performance.now() - since < SLICE) return undefined
    this.#waiting += 1
    this.#last = this.#last.then(() => this.#nextTurn())
    return this.#last
  }

  async #nextTurn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#waiting -= 1
  }
}
