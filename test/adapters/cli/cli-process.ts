import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

/** How a run of the command ended, with everything that it wrote. */
export interface Ended {
  /** Null when a signal killed it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The command while it runs. */
export interface Running {
  /** Resolves with the ready line; rejects with what the command wrote when it ends before. */
  readonly ready: Promise<string>
  readonly ended: Promise<Ended>
  /** Its standard error until now. */
  stderrSoFar(): string
  stdoutSoFar(): string
  readonly pid: number
  kill(signal: NodeJS.Signals): void
}

/** Where Node keeps the code that it compiled: most of what a short command takes is to compile its source. */
const { NODE_COMPILE_CACHE } = process.env
const COMPILED = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

const running = new Set<ChildProcess>()

export interface RunOptions {
  readonly cwd: string
  /** Its standard input; nothing unless given. */
  readonly input?: string
  readonly variables?: Readonly<Record<string, string>>
  /** The folder of the source that it runs, with a slash at its end; this project unless given. */
  readonly project?: string
  /** The system refuses to let a file of the command grow beyond this number of blocks of 512 bytes. */
  readonly fileBlocks?: number
}

/** The program of the command line in a tree of this release, or of one before its adapters stood in wings. */
function mainOf(project: string): string {
  const main = `${project}adapters/tools/cli/main.ts`
  return existsSync(main) ? main : `${project}adapters/cli/main.ts`
}

/** Runs `portcullis …args` from its source, in a directory and with nothing in its environment but `variables`. */
export function portcullis(
  args: readonly string[],
  { cwd, variables = {}, fileBlocks, input, project = PROJECT }: RunOptions,
): Running {
  const command = ['--conditions=portcullis-source', mainOf(project), ...args]
  const node = `${PROJECT}node_modules/.bin/node`
  const [program, ...words] =
    fileBlocks === undefined
      ? [node, ...command]
      : // Without the trap a write beyond the limit would end the process, which a full disk does not.
        ['/bin/sh', '-c', `trap '' XFSZ; ulimit -f ${fileBlocks}; exec "$0" "$@"`, node, ...command]
  const child = spawn(program, words, {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...(fileBlocks === undefined ? COMPILED : {}), ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A process that ends without reading its input closes the pipe.
  child.stdin.on('error', () => undefined).end(input)
  running.add(child)
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]): Ended => {
    running.delete(child)
    return { code: typeof code === 'number' ? code : null, stdout, stderr }
  })
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const end = stdout.indexOf('\n')
      if (end >= 0) resolve(stdout.slice(0, end))
    })
    ended.then(({ code }) => reject(new Error(`ended with ${code}: ${stderr}`)), reject)
  })
  // A test that waits for the end only does not ask for this one.
  ready.catch(() => undefined)
  return {
    ready,
    ended,
    pid: child.pid ?? 0,
    stderrSoFar: () => stderr,
    stdoutSoFar: () => stdout,
    kill: (signal) => void child.kill(signal),
  }
}

/** The processes that a command which runs has started, on Linux. */
export function workersOf(pid: number): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
      return Number(parent) === pid ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** Ends what a failed test left running. Their workers write for another moment: the folder of a test is removed with `maxRetries`. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** The port in a ready line. */
export function portIn(readyLine: string): number {
  return Number(/ at https:\/\/\S+:(\d+),/.exec(readyLine)?.[1])
}
