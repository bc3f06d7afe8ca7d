#!/usr/bin/env node
import { visibleLine } from '../../../src/base/text.ts'
import { UsageError } from './command-line/usage.ts'
import { COMMANDS } from './commands/index.ts'
import { openTerminal } from './output.ts'
import { runCommandLine } from './run-command-line.ts'

const { stdin: input, stdout: out, stderr: error, env: environment } = process
const TERMINAL = openTerminal({ input, out, error }, environment)
/** The exit code of a program whose reader has left, as shells show it: 128 and the number of SIGPIPE. */
const READER_LEFT = 141

function refusal(problem: unknown): number {
  const places = problem instanceof UsageError ? problem.places : []
  for (const place of places) error.write(`${visibleLine(place)}\n`)
  if (places.length === 0) TERMINAL.tell(problem instanceof Error ? problem.message : String(problem))
  return problem instanceof UsageError ? 2 : 1
}

// `head` reads the beginning and leaves: the rest is not wanted.
out.on('error', (problem: NodeJS.ErrnoException) => {
  process.exit(problem.code === 'EPIPE' ? READER_LEFT : refusal(problem))
})
// Standard error may lose its reader; the command does its work all the same.
error.on('error', () => undefined)

/** Runs the command, and answers its exit code once its readers have taken all that it wrote. */
async function run(words: readonly string[]): Promise<number> {
  const code = await runCommandLine(COMMANDS, words, { environment, terminal: TERMINAL }).catch(refusal)
  // A pipe holds 64 KiB. An exit drops what its reader has not taken.
  await Promise.all([out, error].map((stream) => new Promise<void>((taken) => stream.write('', () => taken()))))
  return code
}

// Nothing may keep the process alive: not a start that a signal interrupted, not a connection pool.
process.exit(await run(process.argv.slice(2)))
