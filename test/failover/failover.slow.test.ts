import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { CarriedTraffic } from './carried-traffic.ts'
import {
  type Member,
  missingProgram,
  PatroniCluster,
  postmasterOf,
  signal,
  statusOf,
  until,
} from './patroni-cluster.ts'
import { PrimaryGate } from './primary-gate.ts'
import { adminOf, ask, freePairs, logIn, type Served, serveWorkers, servicesAt } from './served-workers.ts'

/** All of it takes minutes; `npm run test:slow` kills a primary alone. */
const isWhole = process.env.PORTCULLIS_FAILOVER === 'all'
const missing = missingProgram()
if (missing !== undefined || process.getuid?.() !== 0) {
  console.warn(
    `SKIPPED: no failover, because ${missing === undefined ? 'it takes root' : `${missing} is not installed`}`,
  )
}

const MINUTE = 60_000
/** Writers and readers at once, half of them at each controller. */
const WRITERS = 8

let folder: string
let cluster: PatroniCluster
let gate: PrimaryGate
let traffic: CarriedTraffic
let served: readonly Served[] = []
let isOver = false
/** The names of services whose creation was answered with 201, with the instant of the answer. */
const acknowledged = new Map<string, number>()
/** Names that somebody was told do not exist after they had been acknowledged. */
const stale: string[] = []
/** How many writes were answered with another status than 201, by the status; 0 for those without an answer. */
const refused = new Map<number, number>()
let loops: Promise<void>[] = []

function refuse(status: number): void {
  refused.set(status, (refused.get(status) ?? 0) + 1)
}

async function write(at: Served, index: number): Promise<void> {
  for (let count = 0; !isOver; count += 1) {
    const name = `writer-${index}-${count}`
    try {
      const { status } = await ask(at, 'POST', '/services', { name })
      if (status === 201) acknowledged.set(name, performance.now())
      else refuse(status)
      if (status === 401) at.token = await logIn(at)
      if (status >= 400) await sleep(50)
    } catch {
      refuse(0)
      await sleep(50)
    }
  }
}

async function read(at: Served): Promise<void> {
  while (!isOver) {
    const names = [...acknowledged.keys()]
    const name = names[names.length - 1 - Math.floor(Math.random() * Math.min(names.length, 20))]
    try {
      if (name !== undefined) {
        const answer = await ask(at, 'GET', `/services?filter=${encodeURIComponent(`name="${name}"`)}`)
        const { data }: { readonly data?: readonly unknown[] } = JSON.parse(await answer.text())
        if (answer.status === 200 && data?.length === 0) stale.push(name)
      }
      await sleep(20)
    } catch {
      await sleep(50)
    }
  }
}

/** Does something to the primary; answers how long after its successor came to be the first write was acknowledged, in ms. */
async function failOver(harm: (primary: Member) => void): Promise<{ elected: number; ready: number; before: Member }> {
  const before = await cluster.primary()
  if (before === undefined) throw new Error('there is no primary')
  const begun = performance.now()
  harm(before)
  await until(async () => {
    const now = await cluster.primary()
    return now !== undefined && now.name !== before.name
  })
  const elected = performance.now()
  return { elected: elected - begun, ready: await writtenAfter(elected), before }
}

/** Waits for the first write that was acknowledged after an instant; answers how long after it that was, ms. */
async function writtenAfter(since: number): Promise<number> {
  await until(async () => [...acknowledged.values()].some((at) => at > since), 30_000)
  return Math.min(...[...acknowledged.values()].filter((at) => at > since)) - since
}

/** Says how the circuits fared; none of them, no link and no channel to a controller may have ended. */
async function leftAlone(): Promise<void> {
  await traffic.goesOn()
  const { lines, circuits, longestGapMs } = traffic.figures
  console.log(
    `${circuits} circuits carried ${lines} lines, ${longestGapMs} ms apart at most; lost: ${traffic.lost.length}`,
  )
  expect(traffic.lost).toEqual([])
}

/** Waits until a member that was the primary follows the one that is, and there is a synchronous standby. */
async function followed({ name }: Member): Promise<void> {
  await until(async () => (await statusOf(cluster.member(name), 'replica')) === 200)
  await until(async () => (await cluster.standby()) !== undefined)
}

/** Starts Patroni again over a member, which follows then. */
async function recover({ name }: Member): Promise<void> {
  const at = cluster.members.findIndex((member) => member.name === name)
  const member = cluster.members[at]
  if (member === undefined) return
  const config = join(cluster.folder, `${name}.yml`)
  const patroni = cluster.run(name, 'setpriv', [
    '--reuid=postgres',
    '--regid=postgres',
    '--clear-groups',
    'patroni',
    config,
  ])
  cluster.members[at] = { ...member, patroni }
  await followed(member)
}

describe.skipIf(missing !== undefined || process.getuid?.() !== 0)('a database that fails over', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-failover-'))
    cluster = await PatroniCluster.start()
    gate = new PrimaryGate(cluster)
    const gatePort = await gate.listen()
    const [bouncer = 0] = await freePorts(1)
    const config = join(cluster.folder, 'pgbouncer.ini')
    await writeFile(config, bouncerConfig(gatePort, bouncer))
    await chown(config, 0, 0)
    cluster.run('pgbouncer', 'setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', 'pgbouncer', config])
    const storage = `postgres://postgres@127.0.0.1:${bouncer}/postgres?prepareStatements=false`
    const [here = 0, there = 0] = await freePairs()
    const place = { folder, storage, port: 0 }
    const first = await serveWorkers({ ...place, control: here, other: there })
    served = [first, await serveWorkers({ ...place, control: there, other: here })]
    traffic = await CarriedTraffic.open(adminOf(first), 4)
    loops = Array.from({ length: WRITERS }, (_, index) => {
      const [at = first, other = first] = index % 2 === 0 ? served : served.toReversed()
      return [write(at, index), read(other)]
    }).flat()
    await until(async () => acknowledged.size > 50)
  }, 4 * MINUTE)

  afterAll(async () => {
    isOver = true
    await Promise.allSettled(loops)
    await traffic?.close()
    for (const { process } of served) process.kill('SIGKILL')
    gate?.close()
    await cluster?.stop()
    await rm(folder, { recursive: true, force: true })
  }, MINUTE)

  it(
    'whose primary is killed: is written to again within 10 s of the next primary',
    async () => {
      const { elected, ready, before } = await failOver(({ patroni, data }) => {
        signal(patroni.pid, 'SIGKILL')
        signal(postmasterOf(data), 'SIGKILL')
      })
      console.log(`killed: next primary after ${Math.round(elected)} ms, first write ${Math.round(ready)} ms later`)
      expect(ready).toBeLessThan(10_000)
      await recover(before)
      await leftAlone()
    },
    3 * MINUTE,
  )

  it.runIf(isWhole)(
    'whose primary is paused, and wakes up when there is another one',
    async () => {
      const { elected, ready, before } = await failOver(({ patroni, data }) => {
        signal(patroni.pid, 'SIGSTOP')
        signal(postmasterOf(data), 'SIGSTOP')
      })
      console.log(`paused: next primary after ${Math.round(elected)} ms, first write ${Math.round(ready)} ms later`)
      expect(ready).toBeLessThan(10_000)
      signal(postmasterOf(before.data), 'SIGCONT')
      await sleep(3000)
      signal(before.patroni.pid, 'SIGCONT')
      await followed(before)
      await leftAlone()
    },
    3 * MINUTE,
  )

  it.runIf(isWhole)(
    'whose primary goes on behind a network that is cut',
    async () => {
      const { elected, ready, before } = await failOver(({ name, patroni }) => {
        // Neither the pooler reaches it, nor does it reach etcd: it does not know that it is none any more.
        gate.cut(name)
        signal(patroni.pid, 'SIGSTOP')
      })
      console.log(`cut: next primary after ${Math.round(elected)} ms, first write ${Math.round(ready)} ms later`)
      expect(ready).toBeLessThan(10_000)
      gate.mend(before.name)
      await sleep(3000)
      signal(before.patroni.pid, 'SIGCONT')
      await followed(before)
      await leftAlone()
    },
    3 * MINUTE,
  )

  it.runIf(isWhole)(
    'whose primary loses etcd, for packets to it are dropped, and steps down by itself',
    async () => {
      const { elected, ready, before } = await failOver(({ toEtcd }) => toEtcd.cut())
      console.log(`no etcd: next primary after ${Math.round(elected)} ms, first write ${Math.round(ready)} ms later`)
      expect(ready).toBeLessThan(10_000)
      before.toEtcd.mend()
      await followed(before)
      await leftAlone()
    },
    3 * MINUTE,
  )

  it.runIf(isWhole)(
    'none of whose members reaches etcd: is not written to, until they do',
    async () => {
      for (const { toEtcd } of cluster.members) toEtcd.cut()
      await until(async () => (await cluster.primary()) === undefined)
      // Writes that were on their way when the last primary stepped down.
      await sleep(1000)
      const before = acknowledged.size
      await sleep(5000)
      expect(acknowledged.size).toBe(before)
      for (const { toEtcd } of cluster.members) toEtcd.mend()
      await until(async () => (await cluster.primary()) !== undefined)
      const ready = await writtenAfter(performance.now())
      console.log(`etcd is back: first write ${Math.round(ready)} ms after there is a primary`)
      expect(ready).toBeLessThan(10_000)
      await until(async () => (await cluster.standby()) !== undefined)
      await leftAlone()
    },
    3 * MINUTE,
  )

  it(
    'has lost no write that was acknowledged, and answered nothing of before it',
    async () => {
      isOver = true
      await Promise.allSettled(loops)
      console.log(
        `${acknowledged.size} writes acknowledged, ${stale.length} stale answers, refusals by status: ${JSON.stringify([...refused])}`,
      )
      for (const at of served) {
        const known = new Set<string>()
        for await (const { name } of servicesAt(at)) known.add(name)
        expect([...acknowledged.keys()].filter((name) => !known.has(name))).toEqual([])
      }
      expect([...refused.keys()].filter((status) => status !== 503 && status !== 0)).toEqual([])
      // Only of writes that the cluster has not lost, it says something of the controllers.
      expect(stale).toEqual([])
    },
    MINUTE,
  )
})

function bouncerConfig(gatePort: number, port: number): string {
  return `[databases]
* = host=127.0.0.1 port=${gatePort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
ignore_startup_parameters = lock_timeout,idle_in_transaction_session_timeout,extra_float_digits
server_login_retry = 1
server_connect_timeout = 3
query_wait_timeout = 10
tcp_user_timeout = 5000
`
}
