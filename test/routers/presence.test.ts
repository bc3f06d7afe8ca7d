import type { RouterAdmission, RouterConnection } from 'portcullis'
import { describe, expect, it } from 'vitest'
import { edgeRouters } from '../support/stored-records.ts'
import { type World, world } from '../support/world.ts'

const FINGERPRINT = 'aa'.repeat(20)
const MINUTE = 60_000
const params = (id: string) => ({ params: { id } })
const VERSION = { arch: 'amd64', buildDate: '2026-01-01', os: 'linux', revision: 'abc', version: 'v1.0.0' }

/** Gives an edge router a certificate, as its enrollment does. */
async function enrollRouter({ controller }: World, id: string, fingerprint = FINGERPRINT): Promise<void> {
  await controller.storage.write(async (tx) => {
    const router = await tx.collection(edgeRouters).get(id)
    if (router !== undefined) await tx.collection(edgeRouters).update({ ...router, fingerprint, isVerified: true })
  })
}

async function stage() {
  const here = await world()
  const { data } = await here.admin.call('POST /edge-routers', { body: { name: 'er1' } })
  const id = data.id
  const shown = async () => (await here.admin.call('GET /edge-routers/{id}', params(id))).data
  const { presence } = here.controller
  return { ...here, id, shown, presence }
}

type Staged = Awaited<ReturnType<typeof stage>>

async function connected() {
  const here = await stage()
  await enrollRouter(here, here.id)
  await here.presence.routerConnected(here.id, FINGERPRINT)
  return here
}

const OFFLINE = { hostname: '', isOnline: false, supportedProtocols: {}, syncStatus: 'SYNC_UNKNOWN' }

describe('an edge router that connects', () => {
  it.each<readonly [string, (here: Staged) => Promise<unknown>, RouterAdmission]>([
    ['and is enrolled is accepted', (here) => enrollRouter(here, here.id), { accepted: true }],
    ['and never enrolled is refused', async () => undefined, { accepted: false, reason: 'unverified' }],
    [
      'with another certificate is refused',
      (here) => enrollRouter(here, here.id, 'bb'.repeat(20)),
      { accepted: false, reason: 'fingerprint' },
    ],
    [
      'and is disabled is refused',
      async (here) => {
        await enrollRouter(here, here.id)
        await here.admin.call('PATCH /edge-routers/{id}', { ...params(here.id), body: { disabled: true } })
      },
      { accepted: false, reason: 'disabled' },
    ],
    [
      'and is unknown is refused',
      (here) => here.admin.call('DELETE /edge-routers/{id}', params(here.id)),
      { accepted: false, reason: 'unknown' },
    ],
  ])('%s', async (_, prepare, admission) => {
    const here = await stage()
    await prepare(here)
    const told = here.heard('router.connection')
    expect(await here.presence.routerConnected(here.id, FINGERPRINT)).toEqual(admission)
    expect(told).toHaveLength(admission.accepted ? 1 : 0)
    here.presence.routerHello(here.id, { hostname: 'er1', listeners: [] })
    const { data: listed } = await here.admin.call('GET /edge-routers')
    expect(listed.find(({ id }) => id === here.id)?.isOnline ?? false).toBe(admission.accepted)
  })

  it('shows what it says of itself until it is gone', async () => {
    const here = await connected()
    expect(await here.shown()).toMatchObject({ ...OFFLINE, isOnline: true, syncStatus: 'SYNC_NEW' })
    const listeners = [
      { protocol: 'tls', advertise: 'er1.example.org:3022' },
      { protocol: 'wss', advertise: 'er1.example.org:443' },
    ]
    here.presence.routerHello(here.id, { hostname: 'er1.example.org', listeners, versionInfo: VERSION })
    expect(await here.shown()).toMatchObject({
      hostname: 'er1.example.org',
      isOnline: true,
      supportedProtocols: { tls: 'tls://er1.example.org:3022', wss: 'wss://er1.example.org:443' },
      syncStatus: 'SYNC_DONE',
      versionInfo: VERSION,
    })
    here.presence.routerDisconnected(here.id)
    expect(await here.shown()).toMatchObject({ ...OFFLINE, versionInfo: { version: '' } })
  })

  it('tells its version and what it can do wherever clients and operators see it, while that is known', async () => {
    let told: Partial<RouterConnection> = {}
    const online = { hostname: 'er1', supportedProtocols: {} }
    const { admin, ...here } = await world({ presence: { connectionOf: () => ({ ...online, ...told }) } })
    const [{ id } = { id: '' }] = (await admin.call('GET /edge-routers')).data
    await enrollRouter({ ...here, admin }, id)
    const { api } = await here.person('alice', ['people'])
    const service = await here.service('told', ['told'])
    await here.policy('p', { type: 'Dial', identityRoles: ['#people'], serviceRoles: ['#told'] })
    const looks = async () => {
      const session = await api.call('POST /sessions', { body: { serviceId: service, type: 'Dial' } })
      const lists = [
        (await api.call('GET /current-identity/edge-routers')).data,
        (await api.call('GET /services/{id}/edge-routers', params(service))).data.edgeRouters,
        session.data.edgeRouters,
        (await admin.call('GET /edge-routers')).data,
      ]
      return lists.map(([router]) => router && [router.name, router.version, router.capabilities])
    }
    const everywhere = (...seen: unknown[]) => Array.from({ length: 4 }, () => ['router', ...seen])
    expect(await looks()).toEqual(everywhere(undefined, undefined))
    told = { versionInfo: VERSION, capabilities: [] }
    expect(await looks()).toEqual(everywhere('v1.0.0', []))
    told = { versionInfo: VERSION, capabilities: [1, 2, 3, 4, 5, 6, 62] }
    const { data: known } = await admin.call('GET /enumerated-router-capabilities')
    expect(await looks()).toEqual(everywhere('v1.0.0', known))
    expect(known).toContain('POSTURE_CHECKS')
  })

  it('is found by filters as long as it is connected', async () => {
    const here = await connected()
    const names = async (filter: string) =>
      (await here.admin.call('GET /edge-routers', { query: { filter } })).data.map(({ name }) => name).join(' ')
    expect(await names('online')).toBe('er1')
    expect(await names('not connected')).toBe('router')
    expect(await names('true sort by online desc')).toBe('er1 router')
    here.presence.routerDisconnected(here.id)
    expect(await names('connected = true or isOnline')).toBe('')
  })

  it.each<readonly [string, (here: Staged) => Promise<unknown>]>([
    ['deleted', (here) => here.admin.call('DELETE /edge-routers/{id}', params(here.id))],
    [
      'disabled',
      (here) => here.admin.call('PATCH /edge-routers/{id}', { ...params(here.id), body: { disabled: true } }),
    ],
    ['re-enrolled', (here) => here.admin.call('POST /edge-routers/{id}/re-enroll', params(here.id))],
  ])('is let go of when it is %s', async (reason, change) => {
    const here = await connected()
    const told: unknown[] = []
    const heard = here.heard('router.connection')
    here.presence.onDisconnect(() => {
      throw new Error('a listener that fails')
    })
    here.presence.onDisconnect((...facts) => told.push(facts))
    await here.admin.call('PATCH /edge-routers/{id}', { ...params(here.id), body: { cost: 7 } })
    expect(told).toEqual([])
    await change(here)
    expect(told).toEqual([[here.id, reason]])
    expect(heard).toMatchObject([{ routerId: here.id, isOnline: false }])
    expect((await here.presence.routerConnected(here.id, FINGERPRINT)).accepted).toBe(false)
  })
})

describe('an identity whose endpoints connect to edge routers', () => {
  async function watch() {
    const here = await connected()
    const { id: identityId } = await here.person('alice')
    const status = async () => {
      const { data } = await here.admin.call('GET /identities/{id}', params(identityId))
      expect(data.hasEdgeRouterConnection).toBe(data.edgeRouterConnectionStatus === 'online')
      return data.edgeRouterConnectionStatus
    }
    const report = (isConnected: boolean, full = false) =>
      here.presence.identityConnections(here.id, { full, identities: [{ identityId, connected: isConnected }] })
    return { ...here, identityId, status, report, told: here.heard('identity.connection') }
  }

  it('is online while one of them is connected', async () => {
    const { status, report, told } = await watch()
    expect(await status()).toBe('offline')
    report(true)
    report(true)
    expect(await status()).toBe('online')
    report(false)
    expect(await status()).toBe('offline')
    expect(told.map((event) => event.status)).toEqual(['online', 'offline'])
  })

  it('is offline when a full report does not name it', async () => {
    const { id, presence, status, report, told } = await watch()
    report(true, true)
    presence.identityConnections(id, { full: true, identities: [] })
    expect(await status()).toBe('offline')
    expect(told.map((event) => event.status)).toEqual(['online', 'offline'])
  })

  it('is unknown for five minutes when the router that knows it goes away, then offline', async () => {
    const { controller, id, presence, status, report, told } = await watch()
    report(true)
    presence.routerDisconnected(id)
    await controller.elapse(5 * MINUTE - 1)
    expect(await status()).toBe('unknown')
    await controller.elapse(1)
    expect(await status()).toBe('offline')
    expect(told.map((event) => event.status)).toEqual(['online', 'unknown', 'offline'])
  })

  it('is online again when a router reports it in time', async () => {
    const { controller, id, presence, status, report, told } = await watch()
    report(true)
    presence.routerDisconnected(id)
    await controller.elapse(MINUTE)
    await presence.routerConnected(id, FINGERPRINT)
    report(true, true)
    await controller.elapse(10 * MINUTE)
    expect(await status()).toBe('online')
    expect(told.map((event) => event.status)).toEqual(['online', 'unknown', 'online'])
  })

  it('of a tunneler-enabled router follows the router', async () => {
    const here = await connected()
    await here.admin.call('PATCH /edge-routers/{id}', { ...params(here.id), body: { isTunnelerEnabled: true } })
    const { data } = await here.admin.call('GET /identities/{id}', params(here.id))
    expect(data).toMatchObject({ edgeRouterConnectionStatus: 'online', hasEdgeRouterConnection: true })
  })
})
