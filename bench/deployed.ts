import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../examples/traffic/web.ts'
import { findZiti } from '../examples/traffic/ziti.ts'
import { processOf } from './dataplane/measured-process.ts'
import { DEPLOYED_CA, startDeployed } from './dials/controllers.ts'
import type { BenchRow } from './row.ts'
import type { Load } from './wire/load.ts'
import { createNetwork, type Network } from './wire/network.ts'
import { type LoadProcess, startLoad, startPortcullis } from './wire/processes.ts'
import { CERTIFICATE_LOGIN, loadOfRow, SESSION, WIRE_ROWS } from './wire/rows.ts'

/** A controller that answers, with its network. */
interface Measured {
  readonly name: 'deployed' | 'portcullis'
  readonly port: number
  readonly network: Network
  cpuMs(): Promise<number>
  residentBytes(): Promise<number>
  stop(): Promise<void>
}

interface Workload {
  readonly title: string
  readonly target: string
  load(network: Network): Pick<Load, 'requests'> & Partial<Load>
}

const THEIRS = 'at most theirs'

const WORKLOADS: readonly Workload[] = [
  ofRow('service', THEIRS),
  ofRow('identity', THEIRS),
  ofRow('current-identity', THEIRS),
  ofRow('updates', THEIRS),
  ofRow('services', THEIRS),
  ofRow('identities', '1.5 ms'),
  ofRow('advice', THEIRS),
  ofRow('patch', THEIRS),
  ofRow('cert-login-new', THEIRS),
  ofRow('cert-login', THEIRS),
  {
    title: 'session with a new login, kept connection',
    target: '1.2 ms',
    load: (network) => ({
      requests: CERTIFICATE_LOGIN,
      certificates: network.certificates,
      followedBy: SESSION(network),
    }),
  },
]

/** A row of `npm run bench -- wire` as a workload. */
function ofRow(name: string, target: string): Workload {
  return { title: WIRE_ROWS.get(name)?.title ?? name, target, load: loadOfRow(name) }
}

const ROUNDS = 5
const ROUND_MS = 1000
const CONNECTIONS = 16
/** A process that did nothing for so long (ms) since its start is asked what is resident. */
const QUIET_MS = 5000

/**
 * Requests over TLS to `portcullis serve` over SQLite and to the controller that `ZITI` names, with the same network, in turns:
 * processor time of their processes, and what is resident when they have started over an empty store.
 */
export async function* benchDeployed(): AsyncGenerator<BenchRow> {
  const ziti = findZiti()
  if (ziti === undefined) {
    console.warn('SKIPPED: nothing was compared, because there is no `ziti` on the path and ZITI names none')
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-deployed-'))
  const load = startLoad()
  const started: Omit<Measured, 'network'>[] = []
  try {
    const own = await startOwn(folder)
    started.push(own)
    const other = await startOther(ziti, folder)
    started.push(other)
    await sleep(QUIET_MS)
    yield row('resident after a start over an empty store', '100 MB', 'MB', [
      (await own.residentBytes()) / 1e6,
      (await other.residentBytes()) / 1e6,
    ])
    const sides = [
      { ...own, network: await createNetwork(own.port, join(folder, 'pki', 'ca.pem')) },
      { ...other, network: await createNetwork(other.port, join(folder, DEPLOYED_CA)) },
    ] as const
    for (const { title, target, load: loadOf } of WORKLOADS) {
      const costs: [number[], number[]] = [[], []]
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const [at, side] of sides.entries()) {
          const cost = await costOf(load, side, loadOf(side.network))
          // The first round warms up.
          if (round > 0) costs[at]?.push(cost)
        }
      }
      yield row(title, target, 'ms', [median(costs[0]), median(costs[1])])
    }
  } finally {
    for (const { stop } of started) await stop()
    await load.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function startOwn(folder: string): Promise<Omit<Measured, 'network'>> {
  const server = await startPortcullis(folder, 'sqlite:network.db')
  return { name: 'portcullis', ...processOf(server.pid), port: server.port, stop: server.stop }
}

async function startOther(ziti: string, folder: string): Promise<Omit<Measured, 'network'>> {
  const [port = 0] = await freePorts(1)
  const { pid, stop } = await startDeployed(ziti, { folder, port })
  return { name: 'deployed', ...processOf(pid), port, stop }
}

/** Processor time of a side's process for one request of a workload, ms. */
async function costOf(load: LoadProcess, side: Measured, sent: ReturnType<Workload['load']>): Promise<number> {
  const before = await side.cpuMs()
  const usual = { connections: CONNECTIONS, forMs: ROUND_MS, most: Number.MAX_SAFE_INTEGER, isNewEach: false, from: 0 }
  const { count, failure } = await load.run({ ...usual, port: side.port, certificates: [], ...sent })
  if (failure !== undefined) throw new Error(`${side.name} answered: ${failure}`)
  return ((await side.cpuMs()) - before) / count
}

function row(name: string, target: string, unit: string, [own, other]: readonly [number, number]): BenchRow {
  const text = `deployed (${other.toFixed(2)} ${unit})`
  return { name, value: own, unit, target, ceiling: { name: text, value: other } }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
