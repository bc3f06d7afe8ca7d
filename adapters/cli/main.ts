#!/usr/bin/env node
import { VERSION } from '../../src/index.ts'
import { startService } from './serve.ts'
import { readServeOptions, SERVE_USAGE } from './serve-options.ts'
import { UsageError } from './usage-error.ts'

const USAGE = `usage: portcullis COMMAND [options]

  serve      runs a controller (portcullis serve --help)
  --version  prints the version
`

/** Runs a command; answers the exit code, or nothing while it goes on. */
async function run([command, ...args]: readonly string[]): Promise<number | undefined> {
  if (command === 'serve') return args.includes('--help') ? print(SERVE_USAGE) : runServe(args)
  if (command === '--version') return print(`${VERSION}\n`)
  if (command === '--help' || command === 'help') return print(USAGE)
  throw new UsageError(command === undefined ? 'say what to do, for example: portcullis serve' : `unknown command '${command}'`)
}

async function runServe(args: readonly string[]): Promise<undefined> {
  const service = await startService(readServeOptions(args, process.env))
  for (const warning of service.warnings) console.error(`portcullis: ${warning}`)
  console.log(service.readyLine)
  let ending = false
  const end = () => {
    // Whoever asks a second time does not want to wait for requests in flight.
    if (ending) process.exit(1)
    ending = true
    service.close().then(() => process.exit(0), fail)
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function fail(error: unknown): void {
  if (error instanceof UsageError) {
    console.error(`portcullis: ${error.message.replaceAll('\n', ' ')}`)
    process.exit(2)
  }
  console.error(error)
  process.exit(1)
}

run(process.argv.slice(2)).then((code) => {
  if (code !== undefined) process.exitCode = code
}, fail)
