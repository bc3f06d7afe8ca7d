import { setTimeout as delay } from 'node:timers/promises'
import { PkiFileError } from '../../../node/index.ts'
import type { Terminal } from '../../output/terminal.ts'
import { UsageError } from '../../settings/usage-error.ts'
import { type ServedController, serveController } from './serve-controller.ts'
import type { ServeOptions } from './serve-options.ts'
import { stopSignal } from './stop-signals.ts'

/** How long a stop may take in ms, from the signal on; service managers wait for five seconds and more. */
const STOP_WITHIN_MS = 5000

/** Serves until a signal asks to stop; the exit code. Throws {@link UsageError} for what cannot be used. */
export async function serveUntilStopped(options: ServeOptions, { print, tell }: Terminal): Promise<number> {
  const stopped = stopSignal()
  const controller = await Promise.race([started(options), stopped.then(() => undefined)])
  if (controller === undefined) return 0
  // Not before: what fails is told in one line, without these around it.
  for (const note of controller.notes) tell(note)
  print(controller.readyLine)
  tell(`stopping on ${await stopped}: requests in flight finish first; a second signal ends them`)
  const isClosed = await Promise.race([controller.close().then(() => true), delay(STOP_WITHIN_MS, false)])
  if (isClosed) return 0
  tell('the storage did not close in time: what it had not confirmed may be undone')
  return 1
}

async function started(options: ServeOptions): Promise<ServedController> {
  try {
    return await serveController(options)
  } catch (error) {
    if (error instanceof PkiFileError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
