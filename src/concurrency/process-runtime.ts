/**
 * The clock, the timers, the turns of the event loop and the randomness of the process. Code that no port is given to takes them here, and
 * nowhere else: `npm run check` refuses the functions of the host in all other files of a network.
 */
export interface Runtime {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds of a clock that never goes back. */
  monotonic(): number
  /** Runs `work` once after `ms` milliseconds; answers a function that cancels it. Only a timer that `holdsProcess` keeps it running. */
  timer(ms: number, work: () => void, holdsProcess?: boolean): Cancel
  /** Runs `work` every `ms` milliseconds until it is cancelled. */
  interval(ms: number, work: () => void, holdsProcess?: boolean): Cancel
  /** Runs `work` in a later turn of the event loop, after input that has arrived. */
  later(work: () => void): void
  /** Runs `work` in this turn, after everything that goes on without input. */
  soon(work: () => void): void
  /** A fraction from 0 up to 1: for delays, never for secrets. */
  fraction(): number
  /** A version 4 UUID that nobody can predict. */
  uuid(): string
  /** Bytes that nobody can predict. */
  bytes(length: number): Uint8Array<ArrayBuffer>
}

export type Cancel = () => void

/** The most bytes that the system draws at once. */
const DRAWN_AT_ONCE = 65_536

/** The functions of Node that other hosts lack. */
const NODE: {
  queueMicrotask(work: () => void): void
  setImmediate?(work: () => void): unknown
  process?: { nextTick(work: () => void): void }
} = globalThis

/** Lets the process end before a timer. Other hosts than Node answer a number, which keeps no process alive either. */
function release(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** The runtime of the host. */
const HOST: Runtime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(ms, work, holdsProcess = false) {
    const timer = setTimeout(work, ms)
    if (!holdsProcess) release(timer)
    return () => clearTimeout(timer)
  },
  interval(ms, work, holdsProcess = false) {
    const timer = setInterval(work, ms)
    if (!holdsProcess) release(timer)
    return () => clearInterval(timer)
  },
  // `setImmediate` of Node handles input before the callback. The fallback, a timer, waits a millisecond at least.
  later(work) {
    if (NODE.setImmediate === undefined) setTimeout(work, 0)
    else NODE.setImmediate(work)
  },
  // Node calls the ticks that microtasks ask for when no microtask is left. Elsewhere the work is another microtask.
  soon: (work) => queueMicrotask(() => (NODE.process === undefined ? work() : NODE.process.nextTick(work))),
  fraction: () => Math.random(),
  uuid: () => crypto.randomUUID(),
  bytes(length) {
    const bytes = new Uint8Array(length)
    for (let at = 0; at < length; at += DRAWN_AT_ONCE) crypto.getRandomValues(bytes.subarray(at, at + DRAWN_AT_ONCE))
    return bytes
  },
}

/** The runtime of this process: the host's, or that of a simulation. */
export const runtime: Readonly<Runtime> = { ...HOST }

/** A signal that aborts with a `TimeoutError` after `ms` milliseconds, as `AbortSignal.timeout` does. It keeps no process running. */
export function timeoutSignal(ms: number): AbortSignal {
  const end = new AbortController()
  runtime.timer(ms, () => end.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')))
  return end.signal
}

/**
 * Replaces the runtime of this whole process, for a simulation; answers the function that brings the host's back. Only the test kit calls
 * it: no option and no variable of the environment leads here.
 */
export function simulateRuntime(simulated: Runtime): () => void {
  Object.assign(runtime, simulated)
  return () => void Object.assign(runtime, HOST)
}
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
