import type { Clock } from '../ports/runtime.ts'

/** Milliseconds for which an answer is given again; longer where the work takes more than a hundredth of that. */
const KEPT_MS = 60_000
const SHARE = 100

/** An answer with the instant at which its work began, and how long that took. */
interface Known<T> {
  readonly answer: T
  readonly at: number
  readonly tookMs: number
}

/** An answer that takes a look at many records. It is given again for a minute, or for a hundred times as long as it took. */
export class KeptAnswer<T> {
  readonly #clock: Clock
  readonly #work: () => Promise<T>
  #known: Known<T> | undefined
  #working: Promise<T> | undefined

  constructor(clock: Clock, work: () => Promise<T>) {
    this.#clock = clock
    this.#work = work
  }

  /** The next question is answered anew. */
  forget(): void {
    this.#known = undefined
  }

  /** The recent answer, or a new one. Rejects where the storage is away. */
  async read(): Promise<T> {
    const known = this.#known
    const age = known === undefined ? Infinity : this.#clock.now() - known.at
    if (known !== undefined && age < Math.max(KEPT_MS, known.tookMs * SHARE)) return known.answer
    this.#working ??= this.#workAgain().finally(() => {
      this.#working = undefined
    })
    return this.#working
  }

  async #workAgain(): Promise<T> {
    const at = this.#clock.now()
    const answer = await this.#work()
    this.#known = { answer, at, tookMs: this.#clock.now() - at }
    return answer
  }
}
