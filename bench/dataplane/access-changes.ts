import { once } from 'node:events'
import { type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import type { BenchRow } from '../row.ts'
import type { ServedNetwork } from './served.ts'
import { median } from './workloads.ts'

const ROUNDS = 50
/** Rounds before, in which code is loaded and compiled: their worst is told apart. */
const WARM_UP = 5
const TARGET = 'under 100 ms'
const AT_WORK = { domain: 'corp.example' }

/** Milliseconds until a change of access shows at an endpoint. */
interface Shown {
  /** Since the write was sent. */
  readonly sent: number
  /** Since it was acknowledged; negative where it showed before. */
  readonly acknowledged: number
  /** Dials, or questions for the services, until the one that showed it. */
  readonly attempts?: number
}

/** How soon what administrators and endpoints change shows at an endpoint in another process, for both kinds of sessions. */
export async function* rowsOfAccess(network: ServedNetwork): AsyncGenerator<BenchRow> {
  const { admin } = network
  const check = { name: 'at work', typeId: 'DOMAIN' as const, domains: ['corp.example'] }
  const { data } = await admin.call('POST /posture-checks', { body: check })
  const roles = { clients: ['#clients'], hosts: ['#hosts'] }
  const app = await network.service('app', roles)
  await network.service('guarded', { ...roles, postureChecks: [`@${data.id}`] })
  await using host = await openIdentity(await network.device('host', ['hosts']))
  for (const service of ['app', 'guarded']) {
    await host.host(service, (connection: ServiceConnection) => void connection.pipe(connection))
  }
  for (const sessions of ['api-session', 'bearer'] as const) {
    const name = `client ${sessions}`
    const device = await network.device(name, ['clients'])
    await using client = await openIdentity(device, { sessions, posture: AT_WORK })
    const { data: self } = await client.client.call('GET /current-identity')
    const params = { id: self.id }
    const policy = (identityRoles: string[]) =>
      admin.call('PATCH /service-policies/{id}', { params: { id: app.dial }, body: { identityRoles } })
    const kind = `${sessions === 'bearer' ? 'access tokens' : 'API session'}`
    yield* rowsOf(kind, client, 'app', {
      lost: ['a policy takes Dial away', () => policy(['#nobody'])],
      given: ['a policy gives Dial', () => policy(['#clients'])],
    })
    yield* rowsOf(kind, client, 'guarded', {
      lost: ['a posture check fails', () => client.report({ domain: 'elsewhere.example' })],
      given: ['the posture check passes', () => client.report(AT_WORK)],
    })
    const body = { durationMinutes: 0 }
    yield* rowsOf(kind, client, 'app', {
      lost: ['the identity is disabled', () => admin.call('POST /identities/{id}/disable', { params, body })],
      given: [
        'the identity is enabled (it logs in anew)',
        () => admin.call('POST /identities/{id}/enable', { params }),
      ],
    })
    const listed: Shown[] = []
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      await policy(['#nobody'])
      const isListed = async () => (await client.services()).some((service) => service.name === 'app')
      const shown = await until(() => policy(['#clients']), isListed)
      listed.push(shown)
    }
    yield row(`the service is in the list of the client, ${kind}`, listed, ({ acknowledged }) => acknowledged)
  }
}

type Change = readonly [what: string, write: () => Promise<unknown>]

/** The delays of a change that cuts access, and of the one that gives it back. */
async function* rowsOf(
  kind: string,
  client: Identity,
  service: string,
  changes: { readonly lost: Change; readonly given: Change },
): AsyncGenerator<BenchRow> {
  const { lost, given } = changes
  const cuts: Shown[] = []
  const dials: Shown[] = []
  let connection = await echoing(client, service)
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    const cut = await untilCut(connection, lost[1])
    const dialed = await until(given[1], async () => {
      try {
        connection = await client.dial(service)
        return true
      } catch {
        return false
      }
    })
    cuts.push(cut)
    dials.push(dialed)
  }
  connection.destroy()
  yield row(`${lost[0]}: its circuit is cut, ${kind}`, cuts, ({ sent }) => sent)
  yield row(`${given[0]}: the first dial is through, ${kind}`, dials, ({ acknowledged }) => acknowledged)
}

async function echoing(client: Identity, service: string): Promise<ServiceConnection> {
  const connection = await client.dial(service)
  connection.write('hello')
  await once(connection, 'data')
  return connection
}

async function untilCut(connection: ServiceConnection, write: () => Promise<unknown>): Promise<Shown> {
  connection.on('error', () => undefined).resume()
  const begun = performance.now()
  const closed = new Promise<number>((resolve) => connection.once('close', () => resolve(performance.now())))
  await write()
  const acknowledged = performance.now()
  const at = await closed
  return { sent: at - begun, acknowledged: at - acknowledged }
}

/** Writes, and asks from then on again and again, each time at once, until it shows. */
async function until(write: () => Promise<unknown>, isShown: () => Promise<boolean>): Promise<Shown> {
  const begun = performance.now()
  await write()
  const acknowledged = performance.now()
  let attempts = 1
  while (!(await isShown())) attempts += 1
  const at = performance.now()
  return { sent: at - begun, acknowledged: at - acknowledged, attempts }
}

function row(name: string, all: readonly Shown[], figure: (shown: Shown) => number): BenchRow {
  const shown = all.slice(WARM_UP)
  const cold = Math.max(...all.slice(0, WARM_UP).map(figure)).toFixed(1)
  const most = Math.max(...shown.map(({ attempts = 1 }) => attempts))
  const acknowledged = spread(shown.map((one) => one.acknowledged))
  const tries = shown[0]?.attempts === undefined ? '' : `; tried ${most} times at most`
  const details = `${spread(shown.map((one) => one.sent))} since the write was sent; ${acknowledged} since it was acknowledged${tries}; ${cold} ms the worst of the ${WARM_UP} before`
  return { name, value: median(shown.map(figure)), unit: 'ms', target: TARGET, details }
}

/** The median, the 95th of a hundred and the worst of some times. */
function spread(all: readonly number[]): string {
  const sorted = all.toSorted((one, other) => one - other)
  const at = (share: number) => (sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN).toFixed(1)
  return `${at(0.5)}, p95 ${at(0.95)}, worst ${at(1)} ms`
}
