import { Gate } from '../../concurrency/gate.ts'
import { runtime } from '../../concurrency/process-runtime.ts'

/** How long a scan may hold the event loop at once, in ms. */
const SLICE = 3

/** Hands out the event loop to long scans, one slice of one scan per turn of the loop, first come first served. */
export class Turns {
  readonly #gate = new Gate(1)

  /**
   * The start of the slice of a scan that begins now (ms, monotonic). It is long ago when other scans wait, so that this scan soon waits
   * too.
   */
  begin(): number {
    return this.#gate.isOpen ? runtime.monotonic() : Number.NEGATIVE_INFINITY
  }

  /** Answers undefined while a slice begun at `since` (ms, monotonic) may go on, else a promise of the next turn. */
  afterSlice(since: number): Promise<void> | undefined {
    if (runtime.monotonic() - since < SLICE) return undefined
    return this.#gate.run(() => new Promise((resolve) => runtime.later(resolve)))
  }
}
