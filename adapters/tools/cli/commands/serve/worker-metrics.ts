import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { combineMetrics } from '../../../../../src/index.ts'

/** How long the figures of another worker are waited for, in ms: Prometheus gives up after ten seconds. */
const WITHIN_MS = 2000

/** The number of ended workers whose figures are kept one by one. */
const MOST_ENDED = 8

/** A worker asks for the figures of all, with its own. */
interface Asked {
  readonly metrics: 'asked'
  readonly id: number
  readonly own: string
}
/** The answer to it. */
interface Answered {
  readonly metrics: 'answered'
  readonly id: number
  readonly text: string
}
/** The first process asks a worker for its own figures. */
interface Wanted {
  readonly metrics: 'wanted'
  readonly id: number
}
/** The answer to it. */
interface Given {
  readonly metrics: 'given'
  readonly id: number
  readonly text: string
}
type Message = Asked | Answered | Wanted | Given

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'metrics' in value
}

/** The figures of all workers, which a worker gets from the process that started it; its own figures alone if that process is silent. */
export function workerMetrics(own: () => Promise<string>): (mine: string) => Promise<string> {
  const waiting = new Map<number, (text: string) => void>()
  let last = 0
  process.on('message', (message) => {
    if (!isMessage(message)) return
    const { id } = message
    if (message.metrics === 'answered') waiting.get(id)?.(message.text)
    if (message.metrics === 'wanted') {
      void own().then((text) => process.send?.({ metrics: 'given', id, text } satisfies Given))
    }
  })
  return async (mine) => {
    const id = ++last
    const answered = new Promise<string>((resolve) => waiting.set(id, resolve))
    process.send?.({ metrics: 'asked', id, own: mine } satisfies Asked)
    try {
      return await Promise.race([answered, delay(2 * WITHIN_MS, mine)])
    } finally {
      waiting.delete(id)
    }
  }
}

/** Answers workers with the figures of all of them, at the process that started them. */
export class WorkersMetrics {
  /** The last figures of each worker that runs. */
  readonly #latest = new Map<Worker, string>()
  /** The last figures of ended workers; the figures of many are one text. */
  readonly #ended: string[] = []
  #last = 0

  /** Answers the requests of a worker from now on, until it ends. */
  serve(worker: Worker): void {
    this.#latest.set(worker, '')
    worker.on('message', (message: unknown) => {
      if (isMessage(message) && message.metrics === 'asked') void this.#answer(worker, message)
    })
    worker.once('exit', () => void this.#end(worker))
  }

  async #end(worker: Worker): Promise<void> {
    const text = this.#latest.get(worker) ?? ''
    this.#latest.delete(worker)
    this.#ended.push(text)
    if (this.#ended.length < MOST_ENDED) return
    const many = this.#ended.splice(0)
    this.#ended.unshift(await combineMetrics([], many))
  }

  async #answer(worker: Worker, { id, own }: Asked): Promise<void> {
    this.#latest.set(worker, own)
    await Promise.all([...this.#latest.keys()].filter((other) => other !== worker).map((other) => this.#ask(other)))
    const text = await combineMetrics([...this.#latest.values()], this.#ended)
    if (worker.isConnected()) worker.send({ metrics: 'answered', id, text } satisfies Answered)
  }

  /** Asks a worker for its figures. Its earlier figures stay if it does not answer in time. */
  async #ask(worker: Worker): Promise<void> {
    if (!worker.isConnected()) return
    const id = ++this.#last
    const ended = new AbortController()
    const given = this.#given(worker, id, ended.signal)
    worker.send({ metrics: 'wanted', id } satisfies Wanted)
    const text = await Promise.race([
      given,
      delay(WITHIN_MS, undefined, { signal: ended.signal }).catch(() => undefined),
    ])
    ended.abort()
    if (text !== undefined && this.#latest.has(worker)) this.#latest.set(worker, text)
  }

  async #given(worker: Worker, id: number, signal: AbortSignal): Promise<string | undefined> {
    try {
      for (;;) {
        const [message] = await once(worker, 'message', { signal })
        if (isMessage(message) && message.metrics === 'given' && message.id === id) return message.text
      }
    } catch {
      return undefined
    }
  }
}
