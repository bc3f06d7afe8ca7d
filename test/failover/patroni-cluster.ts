import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../examples/traffic/web.ts'
import { SilentWay } from './silent-way.ts'

const BIN = '/usr/lib/postgresql/15/bin'
const PROGRAMS = ['patroni', 'etcd', 'pgbouncer', `${BIN}/postgres`] as const

/** The program that is missing for these tests; undefined when all are there. */
export function missingProgram(): string | undefined {
  return PROGRAMS.find((program) => {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
      return false
    } catch {
      return true
    }
  })
}

/** A PostgreSQL server that Patroni looks after. */
export interface Member {
  readonly name: string
  readonly port: number
  /** The port of Patroni's API, which says what the member is. */
  readonly api: number
  readonly patroni: ChildProcess
  readonly data: string
  /** The way of its Patroni to etcd. */
  readonly toEtcd: SilentWay
}

/**
 * Three members, of which one is a synchronous standby at any time, and the etcd that they agree by. With two a primary whose
 * standby is away would wait for it, or acknowledge what nobody else has.
 */
export class PatroniCluster {
  readonly folder: string
  readonly members: Member[] = []
  readonly #processes: ChildProcess[] = []

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Starts it; resolves when the standby is synchronous. */
  static async start(): Promise<PatroniCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-patroni-'))
    const [uid = 0, gid = 0] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres']).toString()))
    await chown(folder, uid, gid)
    await chmod(folder, 0o755)
    const cluster = new PatroniCluster(folder)
    const [client = 0, peer = 0, ...ports] = await freePorts(8)
    const url = `http://127.0.0.1:${client}`
    cluster.run('etcd', 'etcd', [
      ...['--data-dir', join(folder, 'etcd'), '--name', 'one'],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...[
        '--listen-peer-urls',
        `http://127.0.0.1:${peer}`,
        '--initial-advertise-peer-urls',
        `http://127.0.0.1:${peer}`,
      ],
      ...['--initial-cluster', `one=http://127.0.0.1:${peer}`, '--unsafe-no-fsync', '--enable-v2=true'],
    ])
    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      const [port = 0, api = 0] = ports.slice(2 * index, 2 * index + 2)
      const home = join(folder, name)
      await mkdir(home)
      await chown(home, uid, gid)
      const config = join(folder, `${name}.yml`)
      const toEtcd = await SilentWay.to(client)
      await writeFile(config, configOf({ name, port, api, etcd: `127.0.0.1:${toEtcd.port}`, home }))
      const patroni = cluster.run(name, 'setpriv', [
        ...['--reuid=postgres', '--regid=postgres', '--clear-groups'],
        ...['patroni', config],
      ])
      cluster.members.push({ name, port, api, patroni, data: join(home, 'data'), toEtcd })
      if (index === 0) await until(async () => (await cluster.primary())?.name === 'one')
    }
    await until(async () => (await cluster.standby()) !== undefined)
    for (const name of ['two', 'three'])
      await until(async () => (await statusOf(cluster.member(name), 'replica')) === 200)
    return cluster
  }

  member(name: string): Member {
    const found = this.members.find((member) => member.name === name)
    if (found === undefined) throw new Error(`there is no member ${name}`)
    return found
  }

  /** The member that Patroni says is the primary. */
  async primary(): Promise<Member | undefined> {
    for (const member of this.members) if ((await statusOf(member, 'primary')) === 200) return member
    return undefined
  }

  /** The member that is the synchronous standby. */
  async standby(): Promise<Member | undefined> {
    for (const member of this.members) if ((await statusOf(member, 'sync')) === 200) return member
    return undefined
  }

  /** Starts a program with its output in a file of the folder. */
  run(log: string, program: string, args: readonly string[]): ChildProcess {
    const out = openSync(join(this.folder, `${log}.log`), 'a')
    const child = spawn(program, args, { stdio: ['ignore', out, out], cwd: this.folder, detached: true })
    this.#processes.push(child)
    return child
  }

  /** Kills everything, and removes what it kept. */
  async stop(): Promise<void> {
    for (const { data, toEtcd } of this.members) {
      signal(postmasterOf(data), 'SIGKILL')
      toEtcd.close()
    }
    for (const child of this.#processes) signal(child.pid, 'SIGKILL')
    // Those that were killed may still be writing.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20 })
  }
}

/** Sends a signal to a process and what it started. */
export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  const children = execFileSync('sh', ['-c', `ps -o pid= --ppid ${pid} || true`]).toString()
  for (const one of [pid, ...children.split(/\s+/).filter(Boolean).map(Number)]) {
    try {
      process.kill(one, name)
    } catch {
      // It is gone already.
    }
  }
}

/** The process of the server over a data folder. */
export function postmasterOf(data: string): number | undefined {
  try {
    return Number(execFileSync('head', ['-1', join(data, 'postmaster.pid')], { stdio: 'pipe' }).toString())
  } catch {
    return undefined
  }
}

/** The answer of a member to a question of its role. */
export async function statusOf({ api }: Pick<Member, 'api'>, role: 'primary' | 'sync' | 'replica'): Promise<number> {
  try {
    return (await fetch(`http://127.0.0.1:${api}/${role}`, { signal: AbortSignal.timeout(1000) })).status
  } catch {
    return 0
  }
}

/** Waits until something is true; a minute and a half at most. */
export async function until(isTrue: () => Promise<boolean>, patienceMs = 90_000): Promise<number> {
  const begun = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - begun > patienceMs) throw new Error('it did not come about')
    await sleep(100)
  }
  return performance.now() - begun
}

interface MemberConfig {
  readonly name: string
  readonly port: number
  readonly api: number
  readonly etcd: string
  readonly home: string
}

function configOf({ name, port, api, etcd, home }: MemberConfig): string {
  return `scope: portcullis
name: ${name}
restapi: { listen: '127.0.0.1:${api}', connect_address: '127.0.0.1:${api}' }
# By the API of etcd's version 3, Patroni 3.0.2 takes the place of the next primary back after a pause.
# As a proxy: it would ask etcd where it is, and go around the way that is cut.
etcd: { hosts: ['${etcd}'], use_proxies: true }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters: { synchronous_commit: 'on', fsync: 'off', wal_log_hints: 'on', max_connections: 100, wal_sender_timeout: 5s }
  initdb: [{ encoding: UTF8 }, { locale: C.UTF-8 }, { auth: trust }]
postgresql:
  listen: '127.0.0.1:${port}'
  connect_address: '127.0.0.1:${port}'
  data_dir: ${home}/data
  bin_dir: ${BIN}
  pgpass: ${home}/pgpass
  authentication:
    replication: { username: replicator, password: replicator }
    superuser: { username: postgres, password: postgres }
    rewind: { username: rewinder, password: rewinder }
  parameters: { unix_socket_directories: '${home}' }
  pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust', 'local all all trust']
`
}
