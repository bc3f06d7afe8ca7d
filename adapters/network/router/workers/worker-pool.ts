import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromWorker, ToWorker, WorkerFacts } from './worker-messages.ts'

/** The owner of the workers. */
interface PoolParts {
  readonly count: number
  /** Forks a process that calls `runRouterWorker`. */
  fork(): ChildProcess
  facts(index: number): WorkerFacts
  /** A worker takes messages: it gets what it has to know. */
  ready(index: number): void
  received(index: number, message: FromWorker): void
  /** A worker ended, and is started again unless the pool is closed. */
  lost(index: number): void
  /** Two workers reach each other no more, though both run. */
  parted(one: number, other: number): void
  log?(event: string, fields: Readonly<Record<string, unknown>>): void
}

/** A process, and what is known of it. */
interface RunningWorker {
  readonly process: ChildProcess
  readonly begunAt: number
  isReady: boolean
  /** Workers that it does not reach yet. */
  readonly awaits: Set<number>
  /** Workers that it has a local link to. */
  readonly linked: Set<number>
  /** The connections that it has. */
  connections: number
  /** Connections that are on the way to it. */
  readonly underway: Map<number, Socket>
}

/** Connections of a worker at a time: each holds some 30 kB. */
const MOST_CONNECTIONS = 20_000
/** How long to wait before a worker that ended is started again, in ms: twice as long each time that it ends soon. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** Ms of life after which the end of a worker counts as no failed start. */
const SOON_MS = 10_000
/** Ms for which the further sockets of an endpoint's channel are expected once its first one is there, and how many these may be. */
const FOLLOWING_MS = 2000
const MOST_FOLLOWING = 3
/** Ms within which a worker has to end. */
const ENDS_WITHIN_MS = 2000

/** The workers of a router: starts them, starts them again when they end, and hands connections out to them. */
export class WorkerPool {
  readonly #parts: PoolParts
  readonly #workers = new Map<number, RunningWorker>()
  /** Where the next connections from an address go, because they probably belong to a channel there. */
  readonly #following = new Map<string, { readonly index: number; readonly until: number; left: number }>()
  readonly #onPlaceable: (() => void)[] = []
  #number = 0
  #isClosed = false

  constructor(parts: PoolParts) {
    this.#parts = parts
  }

  /** Starts all workers; resolves when they take connections. Rejects where one ends before. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#onPlaceable.push(() => {
        if (this.#placeable.length === this.#parts.count) resolve()
      })
      for (let index = 0; index < this.#parts.count; index += 1) {
        this.#fork(index, FIRST_PAUSE_MS).once('exit', (code) => {
          reject(new Error(`worker ${index + 1} ended with ${code} before it was ready`))
        })
      }
    })
    this.#onPlaceable.length = 0
  }

  /** The numbers of the workers that take messages. */
  get ready(): readonly number[] {
    return [...this.#workers].filter(([, { isReady }]) => isReady).map(([index]) => index)
  }

  /** A worker as operators see it. */
  shown(index: number) {
    const worker = this.#workers.get(index)
    return { worker: index, process: worker?.process.pid ?? 0, connections: worker?.connections ?? 0 }
  }

  send(index: number, message: ToWorker): void {
    const { process } = this.#workers.get(index) ?? {}
    if (process?.connected === true) process.send(message, () => undefined)
  }

  /** Hands a connection to the worker with the fewest, or where others of the same endpoint went. */
  hand(socket: Socket): void {
    const index = this.#placeFor(socket.remoteAddress ?? '')
    const worker = index === undefined ? undefined : this.#workers.get(index)
    if (worker === undefined || worker.connections >= MOST_CONNECTIONS) {
      socket.destroy()
      return
    }
    this.#number += 1
    const number = this.#number
    worker.connections += 1
    // It stays open here until the worker has it: a worker that dies on the way closes nothing.
    worker.underway.set(number, socket)
    worker.process.send({ type: 'socket', number } satisfies ToWorker, socket, { keepOpen: true }, (error) => {
      if (error !== null) socket.destroy()
    })
  }

  /** The first socket of a channel of several is at a worker. */
  follows(remoteHost: string, index: number): void {
    const now = runtime.monotonic()
    for (const [host, { until }] of this.#following) if (until < now) this.#following.delete(host)
    this.#following.set(remoteHost, { index, until: now + FOLLOWING_MS, left: MOST_FOLLOWING })
  }

  /** Has all workers end, if need be by force. */
  async close(): Promise<void> {
    this.#isClosed = true
    const running = [...this.#workers.values()]
      .map(({ process }) => process)
      .filter(({ exitCode }) => exitCode === null)
    const ended = Promise.all(running.map((process) => once(process, 'exit')))
    for (const index of this.#workers.keys()) this.send(index, { type: 'close' })
    const kill = runtime.timer(ENDS_WITHIN_MS, () => {
      for (const process of running) process.kill('SIGKILL')
    })
    await ended
    kill()
  }

  get #placeable(): readonly number[] {
    return this.ready.filter((index) => this.#workers.get(index)?.awaits.size === 0)
  }

  #placeFor(remoteHost: string): number | undefined {
    const placeable = this.#placeable
    const following = this.#following.get(remoteHost)
    if (following !== undefined && following.until >= runtime.monotonic() && placeable.includes(following.index)) {
      following.left -= 1
      if (following.left === 0) this.#following.delete(remoteHost)
      return following.index
    }
    const connectionsOf = (index: number) => this.#workers.get(index)?.connections ?? 0
    return placeable.toSorted((one, other) => connectionsOf(one) - connectionsOf(other))[0]
  }

  #fork(index: number, pauseMs: number): ChildProcess {
    const process = this.#parts.fork()
    const begunAt = runtime.monotonic()
    const worker: RunningWorker = {
      ...{
        process,
        begunAt,
        isReady: false,
        awaits: new Set(),
        linked: new Set(),
        connections: 0,
        underway: new Map(),
      },
    }
    this.#workers.set(index, worker)
    process.on('message', (message: FromWorker) => this.#received(index, worker, message))
    process.on('error', () => undefined)
    process.once('exit', (code, signal) => this.#ended(index, worker, pauseMs, signal ?? code))
    process.send({ type: 'begin', facts: this.#parts.facts(index) } satisfies ToWorker)
    return process
  }

  #received(index: number, worker: RunningWorker, message: FromWorker): void {
    if (message.type === 'took') {
      worker.underway.get(message.number)?.destroy()
      worker.underway.delete(message.number)
    } else if (message.type === 'left') worker.connections -= 1
    else if (message.type === 'ready') this.#isReady(index, worker)
    else if (message.type === 'neighbour') this.#linked(index, worker, message)
    else this.#parts.received(index, message)
  }

  /** A worker that is there dials all others that are there. */
  #isReady(index: number, worker: RunningWorker): void {
    const others = this.ready
    worker.isReady = true
    this.#parts.ready(index)
    for (const other of others) this.#dial(worker, index, other)
    this.#lookForPlaces()
  }

  #dial(worker: RunningWorker, index: number, other: number): void {
    worker.awaits.add(other)
    this.send(index, { type: 'neighbour', index: other, path: this.#parts.facts(other).path })
  }

  #linked(
    index: number,
    worker: RunningWorker,
    { index: other, isLinked }: Extract<FromWorker, { type: 'neighbour' }>,
  ) {
    if (isLinked) {
      worker.awaits.delete(other)
      worker.linked.add(other)
      this.#lookForPlaces()
      return
    }
    worker.linked.delete(other)
    // Both workers report it. The worker with the higher number dials again, unless the other worker has ended: that is known a moment later.
    const neighbour = this.#workers.get(other)
    if (index < other || neighbour === undefined) return
    runtime.timer(FIRST_PAUSE_MS, () => {
      const isThere = this.#workers.get(index) === worker && this.#workers.get(other) === neighbour
      if (this.#isClosed || !isThere || worker.linked.has(other)) return
      this.#parts.parted(index, other)
      this.#dial(worker, index, other)
    })
  }

  #lookForPlaces(): void {
    for (const work of this.#onPlaceable) work()
  }

  #ended(index: number, worker: RunningWorker, pauseMs: number, why: unknown): void {
    if (this.#workers.get(index) !== worker) return
    this.#workers.delete(index)
    for (const socket of worker.underway.values()) socket.destroy()
    for (const { awaits, linked } of this.#workers.values()) {
      awaits.delete(index)
      linked.delete(index)
    }
    if (worker.isReady) this.#parts.lost(index)
    this.#lookForPlaces()
    if (this.#isClosed) return
    const waitMs = runtime.monotonic() - worker.begunAt > SOON_MS ? FIRST_PAUSE_MS : pauseMs
    this.#parts.log?.('worker.ended', { worker: index + 1, process: worker.process.pid, why, againInMs: waitMs })
    runtime.timer(
      waitMs,
      () => {
        if (!this.#isClosed) this.#fork(index, Math.min(waitMs * 2, LONGEST_PAUSE_MS))
      },
      true,
    )
  }
}
