import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openControlListener, routerSide } from 'portcullis/fabric'
import {
  createTestController,
  enrollEdgeRouter,
  FakeRouter,
  type FakeRouterOptions,
  TEST_ADMIN,
  type TestController,
} from 'portcullis/testing'
import type { BenchRow } from './row.ts'
import { LARGE, MEDIUM, network } from './scale/network.ts'

const { CONTENT_TYPE } = routerSide
const DIALS = 300

/** The data plane with routers that are played, in this process and without sockets. */
export async function benchFabric(): Promise<BenchRow[]> {
  return [...(await circuits()), ...(await connecting(200)), ...(await policyChange(50))]
}

async function circuits(): Promise<BenchRow[]> {
  const controller = await createTestController()
  const dataPlane = await openControlListener(controller, { addresses: ['tls:bench:1'] })
  const token = await adminToken(controller)
  const call = callerOf(controller, token)
  await call('POST', '/services', { name: 'web', encryptionRequired: false, roleAttributes: ['web'] })
  const all = { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await call('POST', '/edge-router-policies', { ...all, identityRoles: ['#all'] })
  await call('POST', '/service-edge-router-policies', { ...all, serviceRoles: ['#all'] })
  for (const type of ['Dial', 'Bind']) {
    await call('POST', '/service-policies', {
      name: type,
      type,
      semantic: 'AnyOf',
      serviceRoles: ['#web'],
      identityRoles: ['#all'],
    })
  }
  const service = await call('GET', '/services?filter=name=%22web%22')
  const router = async (name: string) => {
    const enrolled = await enrollEdgeRouter(controller, token, { name, isTunnelerEnabled: true })
    const played = new FakeRouter(enrolled, dataPlane)
    await played.connect()
    return played
  }
  const [client, server] = [await router('client'), await router('server')]
  const link = {
    id: 'l',
    destRouterId: server.id,
    linkProtocol: 'tls',
    dialAddress: 'tls:s:1',
    iteration: 1,
    connState: undefined,
  }
  client.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links: [link] }))
  const serviceId = String(Reflect.get(Object(Object.values(service)[0]), 'id'))
  await server.request(
    CONTENT_TYPE.createTunnelTerminator,
    routerSide.CreateTunnelTerminator.encode({ serviceId, address: 't' }),
  )
  const dial = async () => {
    const begun = performance.now()
    await client.request(
      CONTENT_TYPE.createTunnelCircuit,
      routerSide.CreateTunnelCircuit.encode({ serviceName: 'web' }),
    )
    client.forget()
    server.forget()
    return performance.now() - begun
  }
  for (let count = 0; count < DIALS; count += 1) await dial()
  await endAll(call)
  const rows: BenchRow[] = []
  for (const open of [1, 100, 1000]) {
    for (let count = 0; count < open; count += 1) await dial()
    const times: number[] = []
    for (let count = 0; count < DIALS; count += 1) times.push(await dial())
    times.sort((left, right) => left - right)
    for (const [name, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      rows.push({
        name: `a circuit over a link, ${open} to ${open + DIALS} open: ${name}`,
        value: times[Math.floor(share * DIALS)] ?? 0,
        unit: 'ms',
      })
    }
    await endAll(call)
  }
  await controller.close()
  return rows
}

async function connecting(count: number): Promise<BenchRow[]> {
  const { controller } = await network(MEDIUM)
  const dataPlane = await openControlListener(controller, { addresses: ['tls:bench:1'] })
  const bytes: number[] = []
  const routers = await playedRouters(controller, dataPlane, count, {
    onFrame: (frame) => {
      if (frame.contentType !== CONTENT_TYPE.modelState) return true
      bytes.push(frame.body.reduce((sum, { length }) => sum + length, 0))
      return false
    },
  })
  const before = process.memoryUsage().rss
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const begun = performance.now()
  await Promise.all(
    routers.map(async (router) => {
      await router.connect()
      subscribe(router)
    }),
  )
  while (bytes.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  const took = performance.now() - begun
  loop.disable()
  const name = `${count} routers connect at once, 5,000 identities`
  return [
    { name: `${name}: all have the model`, value: took, unit: 'ms', longestHoldMs: loop.max / 1e6 },
    { name: `${name}: the model`, value: (bytes[0] ?? 0) / 1e6, unit: 'MB' },
    { name: `${name}: memory, both ends`, value: (process.memoryUsage().rss - before) / 1e6, unit: 'MB' },
  ]
}

async function policyChange(count: number): Promise<BenchRow[]> {
  const { controller } = await network(LARGE)
  const dataPlane = await openControlListener(controller, { addresses: ['tls:bench:1'] })
  let [states, changes] = [0, 0]
  const routers = await playedRouters(controller, dataPlane, count, {
    onFrame: ({ contentType }) => {
      if (contentType === CONTENT_TYPE.modelState) states += 1
      if (contentType === CONTENT_TYPE.modelChanges) changes += 1
      return false
    },
  })
  let firstModelMs = 0
  for (const [position, router] of routers.entries()) {
    const begun = performance.now()
    await router.connect()
    subscribe(router)
    // One after the other: each end keeps a model of its own while it arrives.
    while (states <= position) await new Promise((resolve) => setTimeout(resolve, 5))
    if (position === 0) firstModelMs = performance.now() - begun
  }
  const token = await adminToken(controller)
  const [policy] = Object.values(await callerOf(controller, token)('GET', '/service-policies?limit=1'))
  changes = 0
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const begun = performance.now()
  await callerOf(controller, token)('PATCH', `/service-policies/${Reflect.get(Object(policy), 'id')}`, {
    identityRoles: ['#all'],
  })
  const answered = performance.now() - begun
  while (changes < count) await new Promise((resolve) => setTimeout(resolve, 1))
  const took = performance.now() - begun
  loop.disable()
  const name = `a policy for all 100,000 identities, ${count} routers`
  return [
    { name: 'the model of 100,000 identities is written, first router', value: firstModelMs, unit: 'ms' },
    { name: `${name}: the writer is answered`, value: answered, unit: 'ms' },
    { name: `${name}: the last router has it`, value: took, unit: 'ms', longestHoldMs: loop.max / 1e6 },
  ]
}

async function playedRouters(
  controller: TestController,
  dataPlane: Awaited<ReturnType<typeof openControlListener>>,
  count: number,
  options: FakeRouterOptions,
): Promise<readonly FakeRouter[]> {
  const token = await adminToken(controller)
  const routers: FakeRouter[] = []
  for (let at = 0; at < count; at += 1) {
    routers.push(
      new FakeRouter(await enrollEdgeRouter(controller, token, { name: `played ${at}` }), dataPlane, options),
    )
  }
  return routers
}

function subscribe(router: FakeRouter): void {
  const body = routerSide.Subscribe.encode({ subscriptionDurationSeconds: 300, subscriptionId: 'bench' })
  router.send(CONTENT_TYPE.subscribeToModel, body)
}

async function adminToken(controller: TestController): Promise<string> {
  const { token } = await callerOf(controller, '')('POST', '/authenticate?method=password', TEST_ADMIN)
  return String(token)
}

async function endAll(call: ReturnType<typeof callerOf>): Promise<void> {
  for (;;) {
    const open = Object.values(await call('GET', '/fabric/v1/circuits?limit=500'))
    if (open.length === 0) return
    for (const circuit of open) await call('DELETE', `/fabric/v1/circuits/${Reflect.get(Object(circuit), 'id')}`)
  }
}

function callerOf(controller: TestController, token: string) {
  return async (method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> => {
    const base = path.startsWith('/fabric') ? 'https://bench' : 'https://bench/edge/management/v1'
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await controller.fetch(new Request(`${base}${path}`, init))
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text).data
  }
}
