import type { Scheduler } from '../../../../src/index.ts'
import { ConnectionDropped } from '../faults.ts'

/** The time that paths follow. */
export interface PathTime {
  readonly clock: { now(): number }
  readonly scheduler: Pick<Scheduler, 'at'>
}

/** The way between two ends of the network of a test, with its faults. */
export class NetworkPath {
  readonly #time: PathTime
  readonly #connections = new Set<() => void>()
  readonly #ways = new Set<Way>()
  #isCut = false
  #isSilent = false
  #delayMs = 0

  constructor(time: PathTime) {
    this.#time = time
  }

  get isCut(): boolean {
    return this.#isCut
  }

  get isSilent(): boolean {
    return this.#isSilent
  }

  get delayMs(): number {
    return this.#delayMs
  }

  /** Ends all connections, as a reset does; none opens until it heals. */
  cut(): void {
    this.#isCut = true
    this.reset()
  }

  /** Ends all connections; new ones open. */
  reset(): void {
    for (const end of [...this.#connections]) end()
  }

  /** From now on nothing arrives; neither end learns of it. */
  silence(): void {
    this.#isSilent = true
  }

  /** From now on each message takes `delayMs` longer, either way. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs
    this.#deliver()
  }

  /** Ends all faults: messages of a silence arrive, in order. */
  heal(): void {
    this.#isCut = false
    this.#isSilent = false
    this.#delayMs = 0
    this.#deliver()
  }

  /** Registers what ends a connection; answers the function that forgets it. */
  connected(end: () => void): () => void {
    this.#connections.add(end)
    return () => void this.#connections.delete(end)
  }

  #deliver(): void {
    for (const way of [...this.#ways]) way.deliver()
  }

  /** One way of one connection. */
  way(): Way {
    return new Way(this, this.#time, this.#ways)
  }

  /** Resolves once a message of now would have arrived. Rejects with {@link ConnectionDropped} after a cut, or as `signal` says. */
  async passage(signal?: AbortSignal): Promise<void> {
    if (this.#isCut) throw new ConnectionDropped()
    if (!this.#isSilent && this.#delayMs === 0) return
    const way = this.way()
    const { broken, forget } = this.break(signal)
    try {
      await Promise.race([new Promise<void>((arrived) => way.send(arrived)), broken])
    } finally {
      way.clear()
      forget()
    }
  }

  /** A promise that rejects at a cut, or as `signal` says, until it is forgotten. */
  break(signal?: AbortSignal): { readonly broken: Promise<never>; readonly forget: () => void } {
    let refuse: (error: unknown) => void = () => undefined
    const broken = new Promise<never>((_, reject) => {
      refuse = reject
    })
    // Nobody may wait for it any more.
    broken.catch(() => undefined)
    const disconnect = this.connected(() => refuse(new ConnectionDropped()))
    const abort = () => refuse(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const forget = () => {
      disconnect()
      signal?.removeEventListener('abort', abort)
    }
    return { broken, forget }
  }
}

/** Turns of the event loop in which the consequences of a message or a timer follow. */
const TURNS = 8

/** Does work of an instant, with the consequences that follow in the same instant: the clock of a test moves on behind them. */
export async function settled(work: () => void): Promise<void> {
  work()
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((next) => setImmediate(next))
}

interface Message {
  readonly dueAt: number
  readonly bytes: number
  readonly deliver: () => void
}

/** Messages under way in one direction, which arrive in order. */
export class Way {
  readonly #path: NetworkPath
  readonly #time: PathTime
  readonly #ways: Set<Way>
  #underWay: Message[] = []
  #bytes = 0
  #wakesAt: number | undefined

  constructor(path: NetworkPath, time: PathTime, ways: Set<Way>) {
    this.#path = path
    this.#time = time
    this.#ways = ways
  }

  /** The bytes that are under way. */
  get bytes(): number {
    return this.#bytes
  }

  send(deliver: () => void, bytes = 0): void {
    const { isSilent, delayMs } = this.#path
    if (this.#underWay.length === 0 && !isSilent && delayMs === 0) {
      deliver()
      return
    }
    this.#underWay.push({ dueAt: this.#time.clock.now() + delayMs, bytes, deliver })
    this.#bytes += bytes
    this.#ways.add(this)
    this.deliver()
  }

  /** Delivers what is due. */
  deliver(): void {
    const now = this.#time.clock.now()
    while (!this.#path.isSilent) {
      const [first] = this.#underWay
      if (first === undefined) {
        this.#ways.delete(this)
        return
      }
      // Without a delay nothing waits any more.
      if (first.dueAt > now && this.#path.delayMs > 0) {
        this.#wakeAt(first.dueAt)
        return
      }
      this.#underWay.shift()
      this.#bytes -= first.bytes
      first.deliver()
    }
  }

  /** One timer at a time, whatever number of messages waits. */
  #wakeAt(instant: number): void {
    if (this.#wakesAt === instant) return
    this.#wakesAt = instant
    const wake = () => {
      this.#wakesAt = undefined
      this.deliver()
    }
    this.#time.scheduler.at(instant, () => settled(wake))
  }

  /** Loses what is under way. */
  clear(): void {
    this.#underWay = []
    this.#bytes = 0
    this.#ways.delete(this)
  }
}
