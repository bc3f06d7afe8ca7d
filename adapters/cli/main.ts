#!/usr/bin/env node
import { runCommandLine } from './command-line/run-command-line.ts'
import { COMMANDS } from './commands/index.ts'
import { UsageError } from './input/usage-error.ts'
import { openTerminal } from './output/terminal.ts'

const TERMINAL = openTerminal(process.stdout, process.stderr, process.env)

function refusal(error: unknown): number {
  TERMINAL.tell(error instanceof Error ? error.message : String(error))
  return error instanceof UsageError ? 2 : 1
}

// Nothing may keep the process alive: not a start that a signal interrupted, not a connection pool.
process.exit(
  await runCommandLine(COMMANDS, process.argv.slice(2), { environment: process.env, terminal: TERMINAL }).catch(
    refusal,
  ),
)
