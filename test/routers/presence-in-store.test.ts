import { createPkiMaterial, type Storage } from 'portcullis'
import { type ControlListener, openControlListener, routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, enrollEdgeRouter, FakeRouter, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const { CONTENT_TYPE } = routerSide
/** So long (ms) is a process believed that says nothing more. */
const BELIEVED_MS = 30_000
/** So often (ms) does a process say that it lives. */
const RENEWAL_MS = 10_000
/** So long (ms) may what happens in a crowd wait to be written. */
const SOON_MS = 100
const NOW = Date.UTC(2026, 0, 1)
const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: NOW })

interface Process {
  readonly controller: TestController
  readonly listener: ControlListener
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>
}

/** A controller over a store that others use too, with an open data plane. */
async function startProcess(shared: Storage, address: string): Promise<Process> {
  // The store outlives a process.
  const storage = { ...shared, close: async () => undefined }
  const controller = await createTestController({ storage, pki, now: NOW })
  onTestFinished(() => controller.close())
  const listener = await openControlListener(controller, { addresses: [address] })
  const token = await tokenOf(controller)
  const call: Process['call'] = async (method, path, body) => {
    const base = path.startsWith('/fabric') ? '' : '/edge/management/v1'
    const headers = { 'content-type': 'application/json', 'zt-session': token }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await controller.fetch(new Request(`https://controller.test${base}${path}`, init))
    const answer = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer.data
  }
  return { controller, listener, call }
}

async function tokenOf({ management }: TestController): Promise<string> {
  const login = { query: { method: 'password' }, body: TEST_ADMIN } as const
  return (await management.call('POST /authenticate', login)).data.token
}

/** Two processes, and a router that is connected to the second. */
async function two() {
  const storage = memoryStorage()
  const [here, there] = [await startProcess(storage, 'tls:here:1'), await startProcess(storage, 'tls:there:1')]
  const token = await tokenOf(here.controller)
  const enroll = (name: string, fields: object = {}) =>
    enrollEdgeRouter(here.controller, token, { name, roleAttributes: ['all'], ...fields })
  const router = new FakeRouter(await enroll('r1', { isTunnelerEnabled: true }), there.listener, {
    linkListeners: ['tls:r1:10080'],
  })
  await router.connect()
  const body = routerSide.ClientHello.encode({ hostname: 'r1.test', protocols: ['tls'], protocolPorts: ['3022'] })
  router.send(CONTENT_TYPE.clientHello, body)
  await router.request(CONTENT_TYPE.ping)
  await there.controller.elapse(SOON_MS)
  const isOnline = async ({ call }: Process) => (await call('GET', `/edge-routers/${router.id}`)).isOnline
  await vi.waitFor(async () => {
    expect(await here.call('GET', `/edge-routers/${router.id}`)).toMatchObject({ syncStatus: 'SYNC_DONE' })
  })
  return { here, there, router, enroll, isOnline }
}

const revisionOf = ({ controller }: Process) => controller.storage.read(async ({ revision }) => revision)

describe('a router that is connected to another process', () => {
  it('is online in every answer of this one, until it leaves', async () => {
    const { here, there, router, isOnline } = await two()
    expect(await here.call('GET', `/edge-routers/${router.id}`)).toMatchObject({
      isOnline: true,
      hostname: 'r1.test',
      supportedProtocols: { tls: 'tls://r1.test:3022' },
      versionInfo: { version: 'v2.0.0' },
    })
    expect(Object.values(await here.call('GET', '/edge-routers?filter=isOnline=true'))).toMatchObject([
      { id: router.id },
    ])
    expect(await here.call('GET', `/fabric/v1/routers/${router.id}`)).toMatchObject({
      connected: true,
      listenerAddresses: [{ address: 'tls:r1:10080' }],
    })
    expect(Object.values(await here.call('GET', '/fabric/v1/routers?filter=connected=true'))).toHaveLength(1)
    expect(await here.call('GET', `/identities/${router.id}`)).toMatchObject({ hasEdgeRouterConnection: true })
    router.close()
    await vi.waitFor(async () => expect(await isOnline(there)).toBe(false))
    await there.controller.elapse(SOON_MS)
    expect(await isOnline(here)).toBe(false)
  })

  it('is offline half a minute after that process was killed, and online as long as it says that it lives', async () => {
    const { here, there, isOnline } = await two()
    for (let minute = 0; minute < 3; minute += 1) {
      await there.controller.elapse(60_000)
      await here.controller.elapse(60_000)
      expect(await isOnline(here)).toBe(true)
    }
    await here.controller.elapse(BELIEVED_MS - RENEWAL_MS)
    expect(await isOnline(here)).toBe(true)
    await here.controller.elapse(RENEWAL_MS + SOON_MS)
    expect(await isOnline(here)).toBe(false)
    expect(await isOnline(there)).toBe(true)
  })

  it('is offline at once when that process closes in order', async () => {
    const { here, there, isOnline } = await two()
    await there.listener.close()
    await there.controller.close()
    expect(await isOnline(here)).toBe(false)
  })

  it('costs no write by staying connected but the word that the process is alive', async () => {
    const { here, there, router, enroll } = await two()
    const crowd = await Promise.all(Array.from({ length: 12 }, async (_, count) => enroll(`crowd ${count}`)))
    const before = await revisionOf(here)
    await Promise.all(crowd.map((one) => new FakeRouter(one, there.listener).connect()))
    await there.controller.elapse(SOON_MS)
    expect(Object.values(await here.call('GET', '/edge-routers?filter=isOnline=true limit 50'))).toHaveLength(13)
    const connected = await revisionOf(here)
    expect(connected - before).toBeLessThanOrEqual(2)
    for (let count = 0; count < 100; count += 1) router.send(CONTENT_TYPE.heartbeat)
    expect((await router.request(CONTENT_TYPE.ping)).contentType).toBe(CONTENT_TYPE.result)
    expect(await revisionOf(here)).toBe(connected)
    // The audit trail seals once what the routers were created by.
    await there.controller.elapse(60_000)
    const sealed = await revisionOf(here)
    await there.controller.elapse(60_000)
    expect((await revisionOf(here)) - sealed).toBe(6)
  })

  it('is online again when that process was held still until what it said was cleared away', async () => {
    const { here, there, router, enroll, isOnline } = await two()
    await here.controller.elapse(BELIEVED_MS + 6 * 60_000)
    // Another process clears away what nobody answers for.
    await new FakeRouter(await enroll('r2'), here.listener).connect()
    await vi.waitFor(async () => {
      expect(Object.values(await there.call('GET', '/edge-routers?filter=isOnline=true'))).toHaveLength(2)
    })
    expect(await isOnline(here)).toBe(false)
    await there.controller.elapse(BELIEVED_MS + 6 * 60_000)
    expect(await isOnline(here)).toBe(true)
    expect(await here.call('GET', `/edge-routers/${router.id}`)).toMatchObject({ hostname: 'r1.test' })
  })

  it('is told as held elsewhere to a router that dials a service which only it hosts', async () => {
    const { here, router, enroll } = await two()
    const all = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
    await here.call('POST', '/services', { name: 'web', encryptionRequired: false, roleAttributes: ['web'] })
    await here.call('POST', '/edge-router-policies', { name: 'all', identityRoles: ['#all'], ...all })
    await here.call('POST', '/service-edge-router-policies', { name: 'all', serviceRoles: ['#all'], ...all })
    for (const type of ['Dial', 'Bind']) {
      const roles = { serviceRoles: ['#web'], identityRoles: ['#all'] }
      await here.call('POST', '/service-policies', { name: type, type, semantic: 'AnyOf', ...roles })
    }
    const [service] = Object.values(await here.call('GET', '/services?filter=name="web"'))
    const serviceId = String(Reflect.get(Object(service), 'id'))
    await router.request(
      CONTENT_TYPE.createTunnelTerminator,
      routerSide.CreateTunnelTerminator.encode({ serviceId, address: 't1' }),
    )
    const failed: unknown[] = []
    here.controller.events.on('circuit.failed', ({ reason }) => failed.push(reason))
    const dialing = new FakeRouter(await enroll('r2', { isTunnelerEnabled: true }), here.listener)
    await dialing.connect()
    const answer = await dialing.request(
      CONTENT_TYPE.createTunnelCircuit,
      routerSide.CreateTunnelCircuit.encode({ serviceName: 'web' }),
    )
    expect(new TextDecoder().decode(Buffer.concat(answer.body))).toBe(
      'the terminators of service web are on routers that are connected to other controllers only',
    )
    expect(failed).toEqual(['no-terminators-here'])
    const ofOthers = 'other controllers know those of their own routers'
    await expect(here.call('DELETE', '/fabric/v1/links/l1')).rejects.toThrow(ofOthers)
    await expect(here.call('DELETE', '/fabric/v1/circuits/c1')).rejects.toThrow('circuit with id c1 not found')
  })

  it('is let go of there within two seconds when it is disabled here', async () => {
    const { here, there, router } = await two()
    await here.call('PATCH', `/edge-routers/${router.id}`, { disabled: true })
    expect(router.isClosed).toBe(false)
    await there.controller.elapse(2000)
    await vi.waitFor(() => expect(router.isClosed).toBe(true))
  })
})

it('a process that starts at the address of a former one voids what that left', async () => {
  const storage = memoryStorage()
  const former = await startProcess(storage, 'tls:same:1')
  const enrolled = await enrollEdgeRouter(former.controller, await tokenOf(former.controller), { name: 'r1' })
  await new FakeRouter(enrolled, former.listener).connect()
  const next = await startProcess(storage, 'tls:same:1')
  expect(await next.call('GET', `/edge-routers/${enrolled.id}`)).toMatchObject({ isOnline: false })
})
