import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { chmod, chown, mkdtemp } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findPostgres, POSTGRES_PLACES } from './postgres-installation.ts'

export interface PostgresServer {
  /** A connection as `pg` takes it: the database `postgres` of the server, as its superuser. */
  readonly url: string
  stop(): Promise<void>
  /** Ends the server at once, without a word to its clients; what was not durable may be lost. */
  crash(): Promise<void>
  /** Starts it again. */
  start(): Promise<void>
  restart(): Promise<void>
  /** Runs lines of a shell as the user of the server, with its programs on the path; answers what they print. */
  shell(lines: string): string
}

export interface PostgresServerOptions {
  /** Whether a commit waits for the disk. Tests of behaviour need not. Default: false. */
  readonly isDurable?: boolean
  /** Whether the server lets the process end that started it, and ends with it. Default: false. */
  readonly endsWithProcess?: boolean
  /** Further settings, as `archive_mode=on`. */
  readonly settings?: readonly string[]
}

interface Installation {
  /** The folder of `initdb` and `postgres`. */
  readonly bin: string
  /** The words before a command that make it run as somebody other than root, whom PostgreSQL refuses. */
  readonly as: readonly string[]
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
}

/**
 * Starts a real PostgreSQL server on data of its own, with the programs that {@link findPostgres} finds. It ends with the process that started it.
 */
export async function startPostgres({
  isDurable = false,
  endsWithProcess = false,
  settings: further = [],
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const { bin, as, owner } = await findInstallation()
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-postgres-'))
  await chmod(directory, 0o755)
  if (owner !== undefined) await chown(directory, owner.uid, owner.gid)
  const data = join(directory, 'data')
  const run = (program: string, args: readonly string[]) => [...as, join(bin, program), ...args]
  const [command = '', ...args] = run('initdb', [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ])
  execFileSync(command, args, { stdio: 'pipe', cwd: directory })

  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${directory}`,
    `fsync=${isDurable ? 'on' : 'off'}`,
    `synchronous_commit=${isDurable ? 'on' : 'off'}`,
    'max_connections=200',
    'shared_buffers=128MB',
    ...further,
  ]
  const launched = () =>
    launch(run('postgres', ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]), directory)
  let server = await launched()
  if (endsWithProcess) endWithThisProcess(server, directory)
  const crash = () => ended(server, 'SIGQUIT')
  const start = async () => {
    server = await launched()
  }
  const removeAll = () => {
    server.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
  process.once('exit', removeAll)
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    crash,
    start,
    shell(lines) {
      const [program = '', ...words] = [...as, 'bash', '-euc', lines]
      const env = { PATH: `${bin}:${process.env.PATH}`, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' }
      return execFileSync(program, words, {
        cwd: directory,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      })
    },
    async restart() {
      await crash()
      await start()
    },
    async stop() {
      await ended(server, 'SIGINT')
      process.off('exit', removeAll)
      removeAll()
    },
  }
}

let shared: Promise<PostgresServer> | undefined
let databases = 0

/** A database of its own on a server that all tests of this process share, and how it is given back. */
export interface PostgresDatabase {
  /** A connection as `pg` takes it, as a superuser. */
  readonly url: string
  /** Removes the database, also when somebody is still connected. */
  drop(): Promise<void>
}

/**
 * Makes a database for tests that only use one. Who ends or restarts the server needs {@link startPostgres}, which takes a
 * second.
 */
export async function createDatabase(): Promise<PostgresDatabase> {
  shared ??= startPostgres({ endsWithProcess: true })
  const { url } = await shared
  const name = `tests_${++databases}`
  await administer(url, `create database ${name}`)
  const place = new URL(url)
  place.pathname = name
  return { url: place.href, drop: () => administer(url, `drop database ${name} with (force)`) }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}

async function findInstallation(): Promise<Installation> {
  const bin = await findPostgres(POSTGRES_PLACES)
  if (process.getuid?.() !== 0) return { bin, as: [], owner: undefined }
  const user = ['postgres', 'nobody'].find((name) => idOf('-u', name) !== undefined)
  if (user === undefined)
    throw new Error('PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody')
  const uid = idOf('-u', user) ?? 0
  const gid = idOf('-g', user) ?? 0
  const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig=INT', '--']
  return { bin, as, owner: { uid, gid } }
}

function idOf(option: '-u' | '-g', user: string): number | undefined {
  try {
    return Number(execFileSync('id', [option, user], { stdio: 'pipe' }))
  } catch {
    return undefined
  }
}

/** Resolves when the server says that it is ready. */
function launch([command = '', ...args]: readonly string[], directory: string): Promise<ChildProcess> {
  const server = spawn(command, args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  return new Promise((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = `${log}${text}`.slice(-10_000)
      if (text.includes('ready to accept connections')) resolve(server)
    })
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)))
  })
}

/** A worker of tests may be ended from outside, which lets no code of ours run: another process sees its end and cleans up. */
function endWithThisProcess(server: ChildProcess, directory: string): void {
  const script = 'cat; kill -INT "$0"; while kill -0 "$0"; do sleep 0.1; done; rm -rf "$1"'
  const watcher = spawn('/bin/sh', ['-c', script, String(server.pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  server.unref()
  for (const pipe of [watcher.stdin, server.stderr]) if (pipe instanceof Socket) pipe.unref()
}

function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    server.removeAllListeners('exit').once('exit', () => resolve())
    server.kill(signal)
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
