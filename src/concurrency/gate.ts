/**
 * Called when work has to wait for its turn; `giveUp` ends the waiting with an error, and the work is never begun. What is
 * answered is called when the turn comes.
 */
export type Patience = (giveUp: (reason: unknown) => void) => () => void

/**
 * Lets a number of pieces of work run at once; the others wait in the order in which they came. A place that becomes free
 * goes straight to the first of them, so that a newcomer cannot overtake the queue. Work that fails leaves as work
 * that succeeds. With one place, work runs one after the other.
 *
 * @example
 * const writes = new Gate(1)
 * await writes.run(async () => 'nobody else writes meanwhile')
 */
export class Gate {
  readonly #places: number
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>()
  readonly #idle: (() => void)[] = []
  #running = 0

  constructor(places: number) {
    this.#places = places
  }

  /** Reports whether work that comes now would not wait. */
  get isOpen(): boolean {
    return this.#running < this.#places
  }

  /**
   * Runs work when its turn comes, and never before the caller goes on: what is handed in by then belongs to the same moment.
   * Answers and throws what the work does. Without `patience` it waits as long as it takes.
   *
   * @example
   * const answer = await new Gate(8).run(async () => 'one of eight at once')
   */
  async run<T>(work: () => Promise<T>, patience?: Patience): Promise<T> {
    await this.#turn(patience)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /**
   * Resolves when nothing runs and nobody waits.
   *
   * @example
   * const writes = new Gate(1)
   * void writes.run(async () => 'written')
   * await writes.idle() // it is written
   */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #turn(patience: Patience | undefined): Promise<void> | undefined {
    if (this.isOpen) {
      this.#running += 1
      return undefined
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        stopWaiting?.()
        resolve()
      }
      this.#waiting.add(begin)
      const stopWaiting = patience?.((reason) => {
        if (this.#waiting.delete(begin)) reject(reason)
      })
    })
  }

  #leave(): void {
    const [next] = this.#waiting
    if (next !== undefined) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#running -= 1
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}
