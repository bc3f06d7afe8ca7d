import cluster from 'node:cluster'
import type { Environment } from '../../settings/setting.ts'
import type { ServeOptions } from './serve-options.ts'
import { servedUntil } from './serve-until-stopped.ts'
import { optionsOfWorker } from './worker-options.ts'

/** The variable that tells a worker its number, from 0 on. */
export const WORKER_NUMBER = 'PORTCULLIS_SERVE_WORKER'

/** The number of this worker; `undefined` in a process that nobody started as one. */
export function workerNumber(environment: Environment): number | undefined {
  return cluster.isWorker ? Number(environment[WORKER_NUMBER]) : undefined
}

/** What a worker tells the process that started it, once it answers. */
export interface WorkerReady {
  readonly readyLine: string
  readonly notes: readonly string[]
}

/** What that process asks of a worker. */
export const STOP = 'stop'

/** Serves as one of several processes until it is told to stop; the exit code. */
export function serveAsWorker(options: ServeOptions, index: number): Promise<number> {
  return servedUntil(optionsOfWorker(options, index), stopAsked(), {
    ready: ({ readyLine, notes }) => void process.send?.({ readyLine, notes } satisfies WorkerReady),
    stopping: () => undefined,
  })
}

/** A terminal sends its signal to every process of the group: the first process alone decides what becomes of it. */
function stopAsked(): Promise<string> {
  process.on('SIGINT', () => undefined)
  return new Promise((resolve) => {
    process.on('message', (message) => message === STOP && resolve(STOP))
    process.on('SIGTERM', resolve)
  })
}
