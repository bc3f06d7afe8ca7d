#!/usr/bin/env node
import { setTimeout as delay } from 'node:timers/promises'
import { VERSION } from '../../src/index.ts'
import { PkiFileError } from '../node/index.ts'
import { parseServeArgs } from './command-line.ts'
import { explainAccess } from './explain.ts'
import { readExplainOptions } from './explain-options.ts'
import { readServeOptions, type ServeOptions } from './options.ts'
import { tell } from './output.ts'
import { serveController } from './serve.ts'
import type { Environment } from './setting.ts'
import { stopSignal } from './stop-signals.ts'
import { isStorageVerb, runStorageVerb } from './storage-commands.ts'
import { USAGE } from './usage.ts'
import { UsageError } from './usage-error.ts'

/** How long a stop may take in ms, from the signal on; service managers wait for five seconds and more. */
const STOP_WITHIN_MS = 5000

/** Does what the command line asks; the exit code. */
async function run([command, ...args]: readonly string[], environment: Environment): Promise<number> {
  if (command === '--help') return answer(USAGE)
  if (command === '--version') return answer(`portcullis ${VERSION}`)
  if (command === undefined) throw new UsageError('say what to do: portcullis serve; portcullis --help tells more')
  if (command === 'explain') return answer(await explainAccess(readExplainOptions(args, environment)))
  if (isStorageVerb(command)) return answer(await runStorageVerb(command, args, environment))
  if (command !== 'serve') throw new UsageError(`there is no command '${command}'; portcullis --help tells which`)
  const typed = parseServeArgs(args)
  if (typed.help === true) return answer(USAGE)
  if (typed.version === true) return answer(`portcullis ${VERSION}`)
  return serveUntilStopped(readServeOptions(typed, environment))
}

function answer(text: string): number {
  console.log(text)
  return 0
}

async function serveUntilStopped(options: ServeOptions): Promise<number> {
  const stopped = stopSignal()
  const controller = await Promise.race([serveController(options), stopped.then(() => undefined)])
  if (controller === undefined) return 0
  // Not before: what fails is told in one line, without these around it.
  for (const note of controller.notes) tell(note)
  console.log(controller.readyLine)
  tell(`stopping on ${await stopped}: requests in flight finish first; a second signal ends them`)
  const isClosed = await Promise.race([controller.close().then(() => true), delay(STOP_WITHIN_MS, false)])
  if (isClosed) return 0
  tell('the storage did not close in time: what it had not confirmed may be undone')
  return 1
}

function refusal(error: unknown): number {
  tell(error instanceof Error ? error.message : String(error))
  return error instanceof UsageError || error instanceof PkiFileError ? 2 : 1
}

// Nothing may keep the process alive: not a start that a signal interrupted, not a connection pool.
process.exit(await run(process.argv.slice(2), process.env).catch(refusal))
