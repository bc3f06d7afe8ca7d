/** Milliseconds for which long work may hold the event loop in one turn. Everything else waits for as long. */
const SLICE_MS = 3
/** Waiting pieces that resume in one turn at most: each does one step before it looks at the slice, also where the step follows a read. */
const MOST_RESUMED = 8

/** The parts of an event loop that spread work over its turns. */
export interface EventLoop {
  /** Milliseconds by a clock that never goes back. */
  now(): number
  /** Calls `work` in a later turn, after input that has arrived. */
  later(work: () => void): void
  /** Calls `work` in this turn, after everything that goes on without input. */
  soon(work: () => void): void
}

/**
 * Shares the thread between long pieces of work and everything else. All of them together have one slice of a turn of the event loop. Work
 * that finds the slice used up waits, and later turns resume waiting pieces, one after the other, while their slice lasts. New work and
 * work that has waited before take turns, so that short work does not wait for all slices of long work.
 */
export class LoopTurns {
  readonly #loop: EventLoop
  /** The beginning of this turn's slice; absent until the turn has done work. */
  #since: number | undefined
  readonly #newcomers = new Set<() => void>()
  readonly #others = new Set<() => void>()
  #isForNewcomer = true

  constructor(loop: EventLoop) {
    this.#loop = loop
  }

  /**
   * Begins a piece of work. Call the returned function between small steps of the work: it answers `undefined` while the slice lasts, else
   * a promise of a later turn. Work that runs in several places at once waits once, and resumes in all of them together.
   */
  begin(): () => Promise<void> | undefined {
    this.#sliceBegan()
    let waiting = this.#newcomers
    let awaited: Promise<void> | undefined
    return () => {
      if (awaited !== undefined || this.#loop.now() - this.#sliceBegan() < SLICE_MS) return awaited
      awaited = new Promise((resolve) => {
        waiting.add(() => {
          awaited = undefined
          resolve()
        })
      })
      waiting = this.#others
      return awaited
    }
  }

  #sliceBegan(): number {
    if (this.#since === undefined) {
      this.#since = this.#loop.now()
      this.#loop.later(() => this.#endTurn())
    }
    return this.#since
  }

  #endTurn(): void {
    this.#since = undefined
    this.#resume(MOST_RESUMED)
  }

  #resume(most: number): void {
    const [first, second] = this.#isForNewcomer ? [this.#newcomers, this.#others] : [this.#others, this.#newcomers]
    this.#isForNewcomer = !this.#isForNewcomer
    const waiting = first.size > 0 ? first : second
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    const since = this.#sliceBegan()
    next()
    this.#loop.soon(() => {
      if (most > 1 && this.#since === since && this.#loop.now() - since < SLICE_MS) this.#resume(most - 1)
    })
  }
}
