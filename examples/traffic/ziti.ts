import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'

/** The `ziti` program that `ZITI` names, else the one on the path; undefined when there is none. */
export function findZiti(): string | undefined {
  const program = process.env.ZITI ?? 'ziti'
  return spawnSync(program, ['version'], { stdio: 'ignore' }).status === 0 ? program : undefined
}

/** Whether the program is of the line 1.6: its tunnelers report their posture to nobody, and its command line logs in without OpenID. */
export function isOfLineOne(program: string): boolean {
  return spawnSync(program, ['version'], { encoding: 'utf8' }).stdout.startsWith('v1.')
}

/** The programs of several lines that `ZITI_LINES` names, separated by commas; else the one there is, or none. */
export function findZitiLines(): readonly string[] {
  const { ZITI_LINES } = process.env
  return ZITI_LINES?.split(',') ?? [findZiti()].filter((program) => program !== undefined)
}

/** Runs the program until it ends. Rejects when it fails. */
export async function runZiti(ziti: string, log: string, args: readonly string[]): Promise<void> {
  const [code] = await once(spawn(ziti, args, { stdio: ['ignore', openSync(log, 'a'), openSync(log, 'a')] }), 'exit')
  if (code !== 0) throw new Error(`ziti ${args.join(' ')} ended with ${code}: see ${log}`)
}

/** Programs that run until they are stopped. */
export class ZitiProcesses {
  readonly #ziti: string
  readonly #running = new Set<ChildProcess>()

  constructor(ziti: string) {
    this.#ziti = ziti
  }

  /** Starts the program, or one of another line. */
  start(log: string, args: readonly string[], ziti = this.#ziti): ChildProcess {
    const child = spawn(ziti, args, { stdio: ['ignore', openSync(log, 'a'), openSync(log, 'a')] })
    this.#running.add(child)
    child.once('exit', () => this.#running.delete(child))
    return child
  }

  /** Ends every process at once and resolves when they are gone. */
  async stop(): Promise<void> {
    const ended = [...this.#running].map((child) => {
      child.kill('SIGKILL')
      return once(child, 'exit')
    })
    await Promise.all(ended)
  }
}
