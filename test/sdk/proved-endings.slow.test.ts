import { once } from 'node:events'
import type { Identity, ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let rows = 0
beforeAll(async () => {
  network = await servedNetwork({ directE2EE: 'permissive' })
})
afterAll(() => network.close())

/** The ids of a dialer, a host, their service and the policies that let them. */
interface Ending {
  readonly dialerId: string
  readonly hostId: string
  readonly serviceId: string
  readonly dialPolicyId: string
  readonly bindPolicyId: string
}
type Row = readonly [what: string, end: (ending: Ending) => Promise<unknown>]

const admin = () => network.net.admin

async function apiSessionOf(identityId: string): Promise<string> {
  const { data } = await admin().call('GET /api-sessions', { query: { filter: `identity="${identityId}"` } })
  return String(data[0]?.id)
}

const ENDINGS: readonly Row[] = [
  [
    'dialer disabled',
    ({ dialerId: id }) =>
      admin().call('POST /identities/{id}/disable', { params: { id }, body: { durationMinutes: 0 } }),
  ],
  ['dialer deleted', ({ dialerId: id }) => admin().call('DELETE /identities/{id}', { params: { id } })],
  [
    'authenticator of the dialer deleted',
    async ({ dialerId }) => {
      const { data } = await admin().call('GET /authenticators', { query: { filter: `identity="${dialerId}"` } })
      await admin().call('DELETE /authenticators/{id}', { params: { id: String(data[0]?.id) } })
    },
  ],
  [
    'API session of the dialer deleted',
    async ({ dialerId }) => admin().call('DELETE /api-sessions/{id}', { params: { id: await apiSessionOf(dialerId) } }),
  ],
  [
    'role attributes of the dialer taken away',
    ({ dialerId: id }) => admin().call('PATCH /identities/{id}', { params: { id }, body: { roleAttributes: [] } }),
  ],
  ['dial policy deleted', ({ dialPolicyId: id }) => admin().call('DELETE /service-policies/{id}', { params: { id } })],
  ['bind policy deleted', ({ bindPolicyId: id }) => admin().call('DELETE /service-policies/{id}', { params: { id } })],
  [
    'host disabled',
    ({ hostId: id }) => admin().call('POST /identities/{id}/disable', { params: { id }, body: { durationMinutes: 0 } }),
  ],
  ['host deleted', ({ hostId: id }) => admin().call('DELETE /identities/{id}', { params: { id } })],
  [
    'API session of the host deleted',
    async ({ hostId }) => admin().call('DELETE /api-sessions/{id}', { params: { id: await apiSessionOf(hostId) } }),
  ],
  ['service deleted', ({ serviceId: id }) => admin().call('DELETE /services/{id}', { params: { id } })],
]

/** The ends of one row, and a proved connection between them that carried a byte both ways. */
async function connected(): Promise<{ ending: Ending; dialer: Identity; service: string; both: ServiceConnection[] }> {
  rows += 1
  const [service, clients, hosts] = [`service-${rows}`, `clients-${rows}`, `hosts-${rows}`]
  const dialer = await network.identity(`dialer-${rows}`, clients)
  const host = await network.identity(`host-${rows}`, hosts)
  const create = { name: service, encryptionRequired: true }
  const serviceId = (await admin().call('POST /services', { body: create })).data.id
  const policy = async (type: 'Dial' | 'Bind', role: string) => {
    const body = { name: `${type} ${service}`, type, semantic: 'AnyOf' as const, identityRoles: [`#${role}`] }
    return (await admin().call('POST /service-policies', { body: { ...body, serviceRoles: [`@${serviceId}`] } })).data
      .id
  }
  const [dialPolicyId, bindPolicyId] = [await policy('Dial', clients), await policy('Bind', hosts)]
  const taken: ServiceConnection[] = []
  await host.host(service, (connection: ServiceConnection) => void taken.push(connection.on('error', () => {})), {
    proved: true,
  })
  const connection = await dialer.dial(service, { proved: true })
  connection.on('error', () => {}).write('x')
  await expect.poll(() => taken.length).toBe(1)
  taken[0]?.write('x')
  await once(connection, 'data')
  const idOf = async (name: string) =>
    String((await admin().call('GET /identities', { query: { filter: `name="${name}"` } })).data[0]?.id)
  const [dialerId, hostId] = [await idOf(`dialer-${rows}`), await idOf(`host-${rows}`)]
  const ending = { dialerId, hostId, serviceId, dialPolicyId, bindPolicyId }
  return { ending, dialer, service, both: [connection, ...taken] }
}

describe('a connection whose ends proved themselves', () => {
  it.each(ENDINGS)('ends at both ends like any other: %s', { timeout: 30_000 }, async (_what, end) => {
    const { ending, both } = await connected()
    expect(both.map(({ isEncrypted, destroyed }) => [isEncrypted, destroyed])).toEqual([
      [true, false],
      [true, false],
    ])
    const closed = Promise.all(both.map((one) => new Promise((resolve) => one.resume().once('close', resolve))))
    await end(ending)
    await closed
  })

  it.each(ENDINGS.filter(([what]) => !what.startsWith('API session')))(
    'is not to be had again: %s',
    { timeout: 30_000 },
    async (_what, end) => {
      const { ending, dialer, service, both } = await connected()
      for (const one of both) one.destroy()
      await end(ending)
      await expect(dialer.dial(service, { proved: true })).rejects.toMatchObject({ code: expect.any(String) })
    },
  )
})
