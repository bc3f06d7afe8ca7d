import type { TestController } from 'portcullis/testing'
import type { Fault } from './mortal-identity.ts'

const NEVER = new Promise<never>(() => undefined)

/** A process that may die. */
export interface Mortal {
  isDead: boolean
}

/** How a step ends its process or fails, and whether it consists of steps. */
interface StepEnds {
  readonly kill: () => void
  readonly failure: () => Error
  readonly hasSteps?: boolean
}

/** The steps of played processes, under the clock of a test: each may fail, hang or be the last one of its process. */
export class MortalSteps {
  readonly #net: Pick<TestController, 'clock' | 'elapse'>
  /** Lets work go on that no clock moves. */
  readonly #turn: () => Promise<void>
  #timers: { readonly instant: number; readonly work: () => void }[] = []
  #running = 0

  constructor(net: Pick<TestController, 'clock' | 'elapse'>, turn: () => Promise<void>) {
    this.#net = net
    this.#turn = turn
  }

  /** Calls `work` after some milliseconds, unless the process has died by then; answers a function that cancels it. */
  timer(life: Mortal, ms: number, work: () => void): () => void {
    return this.#later(ms, () => void (life.isDead || work()))
  }

  /** Takes a step of a process, with its fault. `kill` ends the process. A step that `hasSteps` of its own is settled by these. */
  async take<T>(
    life: Mortal,
    fault: Fault | undefined,
    work: () => Promise<T>,
    { kill, failure, hasSteps = false }: StepEnds,
  ): Promise<T> {
    if (life.isDead) return NEVER
    if (fault !== undefined && !fault.isDone) await this.#suffer(fault, kill, failure)
    // A process that died meanwhile does nothing any more.
    if (life.isDead) return NEVER
    const answer = await (hasSteps ? work() : this.#counted(work))
    if (fault?.isDone) await this.#suffer(fault, kill, failure)
    return life.isDead && fault !== undefined ? NEVER : answer
  }

  /** Resolves after some milliseconds of the test's clock. */
  pause(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve()
    if (ms === Number.POSITIVE_INFINITY) return NEVER
    return new Promise((resolve) => void this.#later(ms, resolve))
  }

  /** Turns the clock, and lets happen what is due on the way. */
  async elapse(ms: number): Promise<void> {
    const { clock } = this.#net
    const until = clock.now() + ms
    for (;;) {
      await this.settled()
      const [next] = this.#timers.toSorted((one, other) => one.instant - other.instant)
      if (next === undefined || next.instant > until) break
      await this.#net.elapse(Math.max(0, next.instant - clock.now()))
      this.#timers = this.#timers.filter((timer) => timer !== next)
      next.work()
    }
    await this.#net.elapse(Math.max(0, until - clock.now()))
    await this.settled()
  }

  /** Resolves when no step is under way. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#running === 0 ? quiet + 1 : 0) await this.#turn()
  }

  async #suffer({ way, forMs, afterMs = 0 }: Fault, kill: () => void, failure: () => Error): Promise<void> {
    if (way === 'hangs') await this.pause(forMs)
    if (way === 'dies') kill()
    if (way === 'fails') {
      await this.pause(afterMs)
      throw failure()
    }
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1
    try {
      return await work()
    } finally {
      this.#running -= 1
    }
  }

  #later(ms: number, work: () => void): () => void {
    const timer = { instant: this.#net.clock.now() + ms, work }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }
}
