import type { Cancel, Runtime } from '../../src/testing.ts'
import type { Choices } from './choices.ts'
import { cryptoIdle, isCryptoBusy, turn } from './repeatable-crypto.ts'

/** The first instant of every run, epoch ms. */
export const BEGINNING = Date.UTC(2026, 0, 1)

/** The answer of a timer whose work nothing follows from. */
export const NOTHING_FOLLOWS = Symbol('nothing follows')

interface Event {
  readonly at: number
  readonly number: number
  readonly work: () => unknown
  isCancelled: boolean
}

/** The clock, the timers and the turns of a run. Time passes from one event to the next. */
export class SimulatedTime {
  now = BEGINNING
  /** A binary heap: the earliest is the first, and of several at one instant the one that was asked for first. */
  readonly #events: Event[] = []
  #cancelled = 0
  readonly #later: (() => void)[] = []
  #number = 0

  /** Timers and turns that are left. */
  get pending(): number {
    return this.#events.length - this.#cancelled + this.#later.length
  }

  after(ms: number, work: () => unknown): Cancel {
    this.#number += 1
    // As clocks of hosts: instants are whole milliseconds.
    const event: Event = { at: this.now + Math.max(0, Math.ceil(ms)), number: this.#number, work, isCancelled: false }
    this.#push(event)
    return () => {
      if (event.isCancelled) return
      event.isCancelled = true
      this.#cancelled += 1
    }
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
    for (;;) {
      await turn()
      if (isCryptoBusy()) await cryptoIdle()
      else {
        const work = this.#later.shift()
        if (work === undefined) return
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
    this.#pop()
    // It is over: there is nothing to cancel any more.
    event.isCancelled = true
    this.now = Math.max(this.now, event.at)
    if (event.work() !== NOTHING_FOLLOWS) await this.settle()
  }

  #next(): Event | undefined {
    for (let [first] = this.#events; first !== undefined; [first] = this.#events) {
      if (!first.isCancelled) return first
      this.#pop()
      this.#cancelled -= 1
    }
    return undefined
  }

  #push(event: Event): void {
    const heap = this.#events
    let position = heap.push(event) - 1
    while (position > 0) {
      const above = (position - 1) >>> 1
      const parent = heap[above]
      if (parent === undefined || isBefore(parent, event)) break
      heap[position] = parent
      position = above
    }
    heap[position] = event
  }

  /** Removes the first. */
  #pop(): void {
    const heap = this.#events
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let position = 0
    for (;;) {
      const left = 2 * position + 1
      const [one, other] = [heap[left], heap[left + 1]]
      if (one === undefined) break
      const smaller = other !== undefined && isBefore(other, one) ? other : one
      if (isBefore(last, smaller)) break
      heap[position] = smaller
      position = smaller === one ? left : left + 1
    }
    heap[position] = last
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number)
}
