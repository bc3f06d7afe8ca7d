import type { Cancel, Runtime } from '../../src/testing.ts'
import type { Choices } from './choices.ts'
import { cryptoIdle, isCryptoBusy } from './repeatable-crypto.ts'

/** The first instant of every run, epoch ms. */
export const BEGINNING = Date.UTC(2026, 0, 1)

/** The event loop of the host, which a run leaves to nobody else. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** Turns that bring nothing new until everything is taken for done: a stream of Node hands on in a later one. */
const QUIET_TURNS = 2

interface Event {
  readonly at: number
  readonly number: number
  readonly work: () => void
}

/** The clock, the timers and the turns of a run. Time passes from one event to the next. */
export class SimulatedTime {
  now = BEGINNING
  readonly #events = new Map<number, Event>()
  readonly #later: (() => void)[] = []
  #number = 0

  /** Timers and turns that are left. */
  get pending(): number {
    return this.#events.size + this.#later.length
  }

  after(ms: number, work: () => void): Cancel {
    this.#number += 1
    const number = this.#number
    this.#events.set(number, { at: this.now + Math.max(0, ms), number, work })
    return () => void this.#events.delete(number)
  }

  runtime(choices: Choices): Runtime {
    const interval = (ms: number, work: () => void): Cancel => {
      let cancel: Cancel
      const beat = () => {
        cancel = this.after(ms, beat)
        work()
      }
      cancel = this.after(ms, beat)
      return () => cancel()
    }
    return {
      now: () => this.now,
      monotonic: () => this.now - BEGINNING,
      timer: (ms, work) => this.after(ms, work),
      interval,
      later: (work) => void this.#later.push(work),
      soon: (work) => queueMicrotask(() => process.nextTick(work)),
      fraction: () => choices.fraction(),
      uuid: () => choices.uuid(),
      bytes: (length) => choices.bytes(length),
    }
  }

  /** Does everything that goes on without time passing. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      await turn()
      if (isCryptoBusy()) {
        await cryptoIdle()
        quiet = 0
        continue
      }
      const work = this.#later.shift()
      if (work === undefined) quiet += 1
      else {
        quiet = 0
        work()
      }
    }
  }

  /** Lets `ms` milliseconds pass. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms
    await this.settle()
    for (let next = this.#next(); next !== undefined && next.at <= until; next = this.#next()) await this.#do(next)
    this.now = until
  }

  /** Lets time pass until `work` is done. Rejects as it does, or when nothing is left to wait for. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    done.catch(() => undefined)
    await this.settle()
    while (!isDone) {
      const next = this.#next()
      if (next === undefined) throw new Error('nothing is left that could end the wait')
      await this.#do(next)
    }
    return done
  }

  async #do(event: Event): Promise<void> {
    this.#events.delete(event.number)
    this.now = Math.max(this.now, event.at)
    event.work()
    await this.settle()
  }

  #next(): Event | undefined {
    let found: Event | undefined
    for (const event of this.#events.values()) {
      if (found === undefined || event.at < found.at) found = event
    }
    return found
  }
}
