import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../../command-line/usage.ts'
import type { Terminal } from '../../output.ts'
import type { ServeOptions } from './serve-options.ts'
import { servedUntil, stopSignal } from './serve-until-stopped.ts'
import { WorkersMetrics } from './worker-metrics.ts'
import { optionsOfWorker } from './worker-options.ts'

/** The variable that tells a worker its number, from 0 on. */
const WORKER_NUMBER = 'PORTCULLIS_SERVE_WORKER'

/** The number of this worker; `undefined` in a process that is not a worker. */
export function workerNumber(environment: Environment): number | undefined {
  return cluster.isWorker ? Number(environment[WORKER_NUMBER]) : undefined
}

/** The message of a worker to the process that started it, once it answers. */
export interface WorkerReady {
  readonly readyLine: string
  readonly notes: readonly string[]
}

/** The message by which that process stops a worker. */
const STOP = 'stop'

/** Serves as one of several processes until a stop is requested; the exit code. */
export function serveAsWorker(options: ServeOptions, index: number): Promise<number> {
  return servedUntil(optionsOfWorker(options, index), stopAsked(), {
    isWorker: true,
    ready: ({ readyLine, notes }) => void process.send?.({ readyLine, notes } satisfies WorkerReady),
    stopping: () => undefined,
  })
}

/** A terminal sends its signal to every process of the group: only the first process acts on it. */
function stopAsked(): Promise<string> {
  process.on('SIGINT', () => undefined)
  return new Promise((resolve) => {
    process.on('message', (message) => message === STOP && resolve(STOP))
    process.on('SIGTERM', resolve)
  })
}

/** How long to wait before a worker that ended is started again, in ms: twice as long each time that it ends soon. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** Ms of life after which the end of a worker counts as no failed start. */
const SOON_MS = 10_000
/** Workers stop within five seconds by themselves; remaining workers are then ended. */
const STOP_WITHIN_MS = 5500

/**
 * Has `count` workers serve behind one port until a signal asks to stop; the exit code. The first one starts alone, for it may find an
 * empty database and no certificates. A worker that ends is started again, the sooner the longer it had lived. A worker that cannot start
 * at all ends the command.
 */
export async function serveByWorkers(
  count: number,
  { events }: Pick<ServeOptions, 'events'>,
  { print, tell }: Terminal,
): Promise<number> {
  // Workers accept connections by themselves: a connection that this process had handed to a dying worker would hang for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const supervisor = new Supervisor(tell)
  // Without files of events it ends the process, as a terminal expects that closes.
  if (events.some(({ file }) => file !== undefined)) process.on('SIGHUP', () => supervisor.hangUp())
  const stopped = stopSignal()
  const first = await Promise.race([supervisor.start(0), stopped.then(() => undefined)])
  if (first === undefined || typeof first === 'number') {
    await supervisor.stop()
    return first ?? 0
  }
  for (const note of first.notes) tell(note)
  const others = await Promise.race([
    Promise.all(Array.from({ length: count - 1 }, (_, index) => supervisor.start(index + 1))),
    stopped.then((): (WorkerReady | number)[] => []),
  ])
  const failure = others.find((outcome): outcome is number => typeof outcome === 'number')
  if (failure === undefined) {
    const notes = others.flatMap((ready) => (typeof ready === 'number' ? [] : ready.notes))
    // A remark that concerns all of them is printed once.
    for (const note of new Set(notes)) if (!first.notes.includes(note)) tell(note)
    print(`${first.readyLine}, ${count} workers`)
    tell(`stopping on ${await stopped}: requests in flight finish first; a second signal ends them`)
  }
  const isClean = await supervisor.stop()
  return failure ?? (isClean ? 0 : 1)
}

/** The message of a worker that it answers; it may ask for figures before. */
async function readyMessage(worker: Worker): Promise<WorkerReady> {
  for (;;) {
    const [message] = await once(worker, 'message')
    if ('readyLine' in message) return message
  }
}

/** Starts workers, and starts them again. */
class Supervisor {
  readonly #tell: Terminal['tell']
  readonly #workers = new Map<number, Worker>()
  readonly #metrics = new WorkersMetrics()
  #isStopping = false

  constructor(tell: Terminal['tell']) {
    this.#tell = tell
  }

  /** Starts a worker and keeps it running from when it is ready on; its exit code when it ends before that. */
  async start(index: number): Promise<WorkerReady | number> {
    const worker = cluster.fork({ [WORKER_NUMBER]: String(index) })
    this.#workers.set(index, worker)
    this.#metrics.serve(worker)
    const begun = performance.now()
    const outcome = await Promise.race([
      readyMessage(worker),
      once(worker, 'exit').then(([code]) => (typeof code === 'number' ? code : 1)),
    ])
    if (typeof outcome !== 'number') worker.once('exit', () => void this.#startAgain(index, begun, FIRST_PAUSE_MS))
    return outcome
  }

  async #startAgain(index: number, begun: number, pauseMs: number): Promise<void> {
    if (this.#isStopping) return
    const { pid } = this.#workers.get(index)?.process ?? {}
    this.#tell(`worker ${index + 1} (process ${pid}) ended and is started again`)
    const waitMs = performance.now() - begun > SOON_MS ? FIRST_PAUSE_MS : pauseMs
    await delay(waitMs)
    if (this.#isStopping) return
    const again = performance.now()
    const worker = cluster.fork({ [WORKER_NUMBER]: String(index) })
    this.#workers.set(index, worker)
    this.#metrics.serve(worker)
    worker.once('exit', () => void this.#startAgain(index, again, Math.min(waitMs * 2, LONGEST_PAUSE_MS)))
  }

  /** Has workers open their files of events anew. */
  hangUp(): void {
    for (const worker of this.#workers.values()) if (!worker.isDead()) worker.process.kill('SIGHUP')
  }

  /** Lets each worker finish its answers; false when a worker did not end by itself. */
  async stop(): Promise<boolean> {
    this.#isStopping = true
    const running = [...this.#workers].filter(([, worker]) => !worker.isDead())
    const ended = Promise.all(running.map(([, worker]) => once(worker, 'exit')))
    for (const [, worker] of running) if (worker.isConnected()) worker.send(STOP)
    const codes = await Promise.race([ended, delay(STOP_WITHIN_MS, undefined)])
    for (const [index, worker] of running) {
      if (worker.isDead()) continue
      this.#tell(
        `worker ${index + 1} (process ${worker.process.pid}) did not end within ${STOP_WITHIN_MS} ms and is killed`,
      )
      worker.process.kill('SIGKILL')
    }
    return codes?.every(([code]) => code === 0) ?? false
  }
}
