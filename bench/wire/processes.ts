import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ConstantServerOptions } from './constant-server.ts'
import type { Load, LoadOutcome } from './load.ts'

/** A server in a process of its own. */
export interface ServerProcess {
  readonly pid: number
  readonly port: number
  /** The processor time that it has used so far, in ms. */
  cpuMs(): Promise<number>
  /** The heap in use, and the part of it that is left when the garbage collector has run, in bytes. */
  memory(): Promise<ServerMemory>
  stop(): Promise<void>
}

export interface ServerMemory {
  readonly resident: number
  readonly alive: number
}

/** The load program. */
export interface LoadProcess {
  run(load: Load): Promise<LoadOutcome>
  stop(): Promise<void>
}

export const ADMIN = { username: 'keeper', password: 'the-keys-of-the-bench' } as const

const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url))
const CONSTANT_SERVER = fileURLToPath(new URL('constant-server.ts', import.meta.url))
const LOAD = fileURLToPath(new URL('load.ts', import.meta.url))
const CLI = fileURLToPath(new URL('../../dist/adapters/tools/cli/main.js', import.meta.url))
// One address logs in more often in a second than people do in a minute.
const RATES = ['anonymous', 'identity', 'passwords-by-address', 'passwords-by-username']

/** Where a profile is left, and which command line serves: one of sources, or the one that was built here. */
interface PortcullisOptions {
  readonly profile?: string | undefined
  readonly commandLine?: string
}

/** Starts `portcullis serve` in a directory that has or gets its certificates and database. */
export async function startPortcullis(
  directory: string,
  storage: string,
  { profile, commandLine = CLI }: PortcullisOptions = {},
): Promise<ServerProcess> {
  const rates = RATES.map((name) => `${name}=100000000/60`).join()
  const args = ['serve', '--listen', '127.0.0.1:0', '--pki', 'pki', '--storage', storage, '--rate-limits', rates]
  const sources = commandLine.endsWith('.ts') ? ['--conditions=portcullis-source'] : []
  const child = fork(commandLine, args, {
    cwd: directory,
    execArgv: [
      ...sources,
      '--import',
      PROBE,
      ...(profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile]),
    ],
    env: {
      ...process.env,
      PORTCULLIS_ADMIN_USERNAME: ADMIN.username,
      PORTCULLIS_ADMIN_PASSWORD: ADMIN.password,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let told = ''
  child.stderr?.setEncoding('utf8').on('data', (more: string) => {
    told = `${told}${more}`.slice(-2000)
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (line: string) => {
      const found = / at https:\/\/\S+:(\d+),/.exec(line)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    child.once('exit', (code) => reject(new Error(`portcullis serve ended with ${code}: ${told}`)))
  })
  return serverProcess(child, port)
}

/** Starts a server that always answers the same. */
export async function startConstant(directory: string, options: ConstantServerOptions): Promise<ServerProcess> {
  const file = `${directory}/constant.json`
  await writeFile(file, JSON.stringify(options))
  const child = fork(CONSTANT_SERVER, [file], { execArgv: ['--import', PROBE] })
  const [{ port }] = await once(child, 'message')
  return serverProcess(child, port)
}

/** Starts the load program. */
export function startLoad(): LoadProcess {
  const child = fork(LOAD, { execArgv: [] })
  return {
    run: (load) => asked(child, load),
    stop: () => ended(child),
  }
}

function serverProcess(child: ChildProcess, port: number): ServerProcess {
  return {
    pid: child.pid ?? 0,
    port,
    cpuMs: async () => (await asked<{ cpuMs: number }>(child, 'cpu')).cpuMs,
    memory: () => asked(child, 'memory'),
    stop: () => ended(child),
  }
}

function asked<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: Answer) => {
      child.off('exit', onExit)
      resolve(answer)
    }
    const onExit = (code: number | null) => {
      child.off('message', onMessage)
      reject(new Error(`a process of the benchmark ended with ${code}`))
    }
    child.once('message', onMessage).once('exit', onExit).send(question)
  })
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
