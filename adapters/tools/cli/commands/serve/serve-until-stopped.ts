import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { PkiFileError } from '../../../../web/node/index.ts'
import { UsageError } from '../../command-line/usage.ts'
import { type Terminal, tell } from '../../output.ts'
import { type ServedController, serveController } from './serve-controller.ts'
import type { ServeOptions } from './serve-options.ts'

/** How long a stop may take in ms, from the signal on; service managers wait for five seconds and more. */
const STOP_WITHIN_MS = 5000

/** The listener of events while serving. */
export interface ServeEvents {
  /** Whether the process is one of several workers, which combine their figures. */
  readonly isWorker?: boolean
  ready(controller: ServedController): void
  stopping(reason: string): void
}

/** Serves until a signal asks to stop; the exit code. Throws {@link UsageError} for unusable options. */
export function serveUntilStopped(options: ServeOptions, { print }: Terminal): Promise<number> {
  return servedUntil(options, stopSignal(), {
    ready: ({ notes, readyLine }) => {
      // Not earlier: a failure prints one line, without these remarks.
      for (const note of notes) tell(note)
      print(readyLine)
    },
    stopping: (reason) => tell(`stopping on ${reason}: requests in flight finish first; a second signal ends them`),
  })
}

/** Serves until `stopped` resolves with the reason; the exit code. Throws {@link UsageError} for unusable options. */
export async function servedUntil(
  options: ServeOptions,
  stopped: Promise<string>,
  events: ServeEvents,
): Promise<number> {
  const controller = await Promise.race([started(options, events.isWorker ?? false), stopped.then(() => undefined)])
  if (controller === undefined) return 0
  // No client knows yet that the controller answers: the pause of about a tenth of a second delays no request.
  returnUnusedMemory()
  events.ready(controller)
  events.stopping(await stopped)
  const isClosed = await Promise.race([controller.close().then(() => true), delay(STOP_WITHIN_MS, false)])
  if (isClosed) return 0
  tell('the storage did not close in time: what it had not confirmed may be undone')
  return 1
}

/**
 * Gives the memory of the start back to the system. Loading some six hundred modules grows the young generation of the collector to its
 * limit, where it stays in an idle process: a quarter of its resident memory. It grows again under load.
 */
export function returnUnusedMemory(): void {
  if ('Bun' in globalThis) return // It has another collector.
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  // Only a collection of the last resort shrinks the young generation.
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** Resolves when the controller answers. Throws {@link UsageError} for unusable options. */
export async function started(options: ServeOptions, isWorker: boolean): Promise<ServedController> {
  try {
    return await serveController(options, isWorker)
  } catch (error) {
    if (error instanceof PkiFileError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

/**
 * npm passes on to its child the signals that a terminal or a service manager has already sent to the whole group, so that one Ctrl-C
 * arrives twice: a signal that comes again within these ms is the same signal.
 */
const ECHO_MS = 100

/** Resolves with the first SIGTERM or SIGINT. A second signal ends the process at once, with code 128 plus its number. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      const at = performance.now()
      if (first === undefined) {
        first = { signal, at }
        resolve(signal)
      } else if (first.signal !== signal || at - first.at > ECHO_MS) {
        process.exit(128 + constants.signals[signal])
      }
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
