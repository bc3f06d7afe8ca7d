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
