#!/usr/bin/env node
import { UsageError } from './command-line/usage.ts'
import { COMMANDS } from './commands/index.ts'
import { openTerminal } from './output.ts'
import { runCommandLine } from './run-command-line.ts'

const { stdin: input, stdout: out, stderr: error, env: environment } = process
const TERMINAL = openTerminal({ input, out, error }, environment)

function refusal(problem: unknown): number {
  TERMINAL.tell(problem instanceof Error ? problem.message : String(problem))
  return problem instanceof UsageError ? 2 : 1
}

// Nothing may keep the process alive: not a start that a signal interrupted, not a connection pool.
process.exit(await runCommandLine(COMMANDS, process.argv.slice(2), { environment, terminal: TERMINAL }).catch(refusal))
