import { UsageError } from '../../../adapters/tools/cli/command-line/usage.ts'
import { COMMANDS } from '../../../adapters/tools/cli/commands/index.ts'
import { openTerminal } from '../../../adapters/tools/cli/output.ts'
import { runCommandLine } from '../../../adapters/tools/cli/run-command-line.ts'

/** How a command ended in this process, with everything that it wrote. */
export interface ProgramRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program in this process, where neither standard output nor standard error is a terminal. */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProgramRun> {
  const stdout: string[] = []
  const stderr: string[] = []
  const keep = (kept: string[]) => ({ isTTY: false, write: (text: string) => kept.push(text) > 0 })
  const streams = { input: process.stdin, out: keep(stdout), error: keep(stderr) }
  const terminal = { ...openTerminal(streams, environment), tell: (message: string) => void stderr.push(message) }
  const code = await runCommandLine(COMMANDS, args, { environment, terminal }).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error
    stderr.push(error.message)
    return error instanceof UsageError ? 2 : 1
  })
  return { code, stdout: stdout.join(''), stderr: stderr.join('\n') }
}
