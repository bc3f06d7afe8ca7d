import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, logIn } from '../../examples/traffic/network.ts'
import { fetchFile, freePorts, openClock, serveWeb, untilStopped } from '../../examples/traffic/web.ts'
import { findZiti, runZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-test' }
const ziti = findZiti()
const MINUTE = 60_000
/** Within this time (ms) nothing is carried any more that may not be. */
const SOON_MS = 2000

if (ziti === undefined) {
  console.warn('SKIPPED: no real router was shut out, because there is no `ziti` on the path and ZITI names none')
}

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let controller: Awaited<ReturnType<typeof createController>>
let server: RunningServer
let admin: Admin
let dialPolicy: string
let byProxy = 0
/** The routers of the client, of the host, and one more that both have links to. */
let near: string
let far: string
let farProcess: ChildProcess
let hostProcess: ChildProcess | undefined
let clientProcess: ChildProcess | undefined
let between: string
let host: string
const failures: string[] = []
const endings: string[] = []
const file = (name: string) => join(folder, name)

async function startRouter(name: string): Promise<string> {
  const [linkPort = 0, edgePort = 0] = await freePorts(2)
  const id = await enrollRouter(admin, ziti ?? '', { name }, { files: file(name), linkPort, edgePort })
  const started = runRouter(name)
  if (name === 'far') farProcess = started
  await untilOnline(id)
  return id
}

const runRouter = (name: string) => processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])

async function untilOnline(id: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await admin.call('GET', `/edge-routers/${id}`)).isOnline === true) return
    await sleep(200)
  }
  throw new Error(`router ${id} did not come online`)
}

/** Creates and enrolls the device that hosts; answers its id. */
async function newHost(name: string): Promise<string> {
  const id = await enrollDevice(admin, ziti ?? '', { name, role: 'hosts', files: file(name) })
  await startHost(name)
  return id
}

/** A tunneler that lost its service takes minutes to notice that it has it again: a new process asks at once. */
async function startHost(name: string): Promise<void> {
  await end(hostProcess)
  hostProcess = processes.start(file(`${name}.log`), ['tunnel', 'host', '--identity', file(`${name}.json`)])
}

async function startClient(): Promise<void> {
  await end(clientProcess)
  const args = ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`]
  clientProcess = processes.start(file('client.log'), args)
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function idNamed(path: string, name: string): Promise<string> {
  const [found] = Object.values(await admin.call('GET', `${path}?filter=name=%22${encodeURIComponent(name)}%22`))
  return String(Reflect.get(Object(found), 'id'))
}

interface Shown {
  readonly id: string
  readonly sourceRouter: { readonly id: string }
  readonly destRouter: { readonly id: string }
  readonly path: { readonly nodes: readonly { readonly id: string }[] }
}

// Both lists show what the operators of the fabric API declare.
const listOf = async (what: 'links' | 'circuits') =>
  Object.values(await admin.call('GET', `/fabric/v1/${what}?limit=500`)) as Shown[]

const paths = async () => (await listOf('circuits')).map(({ path }) => path.nodes.map(({ id }) => id))

async function linksBetween(one: string, other: string): Promise<readonly Shown[]> {
  const links = await listOf('links')
  return links.filter(({ sourceRouter: { id: from }, destRouter: { id: to } }) =>
    from === one ? to === other : from === other && to === one,
  )
}

async function changeLinks(one: string, other: string, change: object): Promise<void> {
  await expect
    .poll(async () => (await linksBetween(one, other)).length, { timeout: MINUTE, interval: 200 })
    .toBeGreaterThan(0)
  for (const { id } of await linksBetween(one, other)) await admin.call('PATCH', `/fabric/v1/links/${id}`, change)
}

/** A clock that is heard through the network until the test is over. */
async function hearClock() {
  await fetchFile(byProxy, MINUTE)
  const clock = await openClock(byProxy)
  onTestFinished(() => clock.close())
  await expect.poll(() => clock.isTicking()).toBe(true)
  return clock
}

/** Whether anything comes through the port within 3 s. */
const comesThrough = () =>
  fetch(`http://127.0.0.1:${byProxy}/file`, { signal: AbortSignal.timeout(3000) }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Does something to the network and expects that the clock stands still soon, for good, and that nobody dials anew. */
async function endsWith(change: () => Promise<unknown>): Promise<{ readonly ending: string | undefined }> {
  const clock = await hearClock()
  endings.length = 0
  failures.length = 0
  await change()
  const stoodStillAfter = await untilStopped(clock, 15_000)
  console.log(`stood still after ${stoodStillAfter} ms: ${endings.join()}`)
  expect(stoodStillAfter).toBeLessThan(SOON_MS)
  expect(await comesThrough()).toBe(false)
  await sleep(500)
  expect(clock.isTicking()).toBe(false)
  expect(await paths()).toEqual([])
  clock.close()
  return { ending: endings.at(-1) }
}

const setDisabled = (id: string, disabled: boolean) => admin.call('PATCH', `/edge-routers/${id}`, { disabled })

describe.skipIf(ziti === undefined)('real routers carry nothing of what is disabled, ended or withdrawn', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-shut-out-'))
    processes = new ZitiProcesses(ziti ?? '')
    web = await serveWeb()
    const [port = 0, proxied = 0] = await freePorts(2)
    byProxy = proxied
    const address = `127.0.0.1:${port}`
    controller = await createController({ storage: memoryStorage(), address, admin: ADMIN, rateLimits: false })
    server = await serve(controller, { port, fabric: true })
    controller.events.on('circuit.failed', ({ reason }) => void failures.push(reason))
    controller.events.on('circuit.closed', ({ reason }) => void endings.push(reason))
    admin = await logIn(controller, ADMIN)
    dialPolicy = (await createNetwork(admin, web.port)).dialPolicy
    near = await startRouter('near')
    far = await startRouter('far')
    between = await startRouter('between')
    const everywhere = await idNamed('/edge-router-policies', 'everybody meets everywhere')
    await admin.call('DELETE', `/edge-router-policies/${everywhere}`)
    for (const [role, id] of [
      ['clients', near],
      ['hosts', far],
    ] as const) {
      const meet = { name: `${role} meet`, semantic: 'AnyOf', edgeRouterRoles: [`@${id}`], identityRoles: [`#${role}`] }
      await admin.create('/edge-router-policies', meet)
    }
    host = await newHost('host')
    await enrollDevice(admin, ziti ?? '', { name: 'client', role: 'clients', files: file('client') })
    await startClient()
    await fetchFile(byProxy, MINUTE)
  }, 4 * MINUTE)

  afterAll(async () => {
    await processes?.stop()
    web?.close()
    await server?.close({ graceMs: 0 })
    await controller?.close()
    console.log(`logs are in ${folder}`)
  })

  it(
    'a stream goes around a router in the middle that is disabled, and goes on',
    async () => {
      // Connections of the file that are still kept go the same way.
      const places = async () => [...new Set((await paths()).map((path) => path.join(' ')))]
      await changeLinks(near, between, { staticCost: 1 })
      await changeLinks(between, far, { staticCost: 1 })
      await changeLinks(near, far, { staticCost: 200_000 })
      const clock = await hearClock()
      expect(await paths()).toContainEqual([near, between, far])
      await setDisabled(between, true)
      await expect.poll(places, { timeout: SOON_MS, interval: 50 }).toEqual([`${near} ${far}`])
      await expect.poll(() => clock.isTicking(), { timeout: SOON_MS, interval: 50 }).toBe(true)
      await sleep(1000)
      expect(clock.isTicking()).toBe(true)
      expect(await linksBetween(near, between)).toEqual([])
    },
    2 * MINUTE,
  )

  it(
    'a stream ends with the router of the host, and comes again only when that is enabled',
    async () => {
      const { ending } = await endsWith(() => setDisabled(far, true))
      expect(ending).toBe('router-shut-out')
      expect(failures).toContain('no-online-terminators')
      await setDisabled(far, false)
      await untilOnline(far)
      await fetchFile(byProxy, MINUTE)
    },
    3 * MINUTE,
  )

  it(
    'a stream ends with the router of the client, and a policy that is revoked meanwhile stays so',
    async () => {
      await endsWith(() => setDisabled(near, true))
      await admin.call('PATCH', `/service-policies/${dialPolicy}`, { identityRoles: ['#nobody'] })
      await setDisabled(near, false)
      await untilOnline(near)
      for (let tries = 0; tries < 5; tries += 1) expect(await comesThrough()).toBe(false)
      expect(await paths()).toEqual([])
      await admin.call('PATCH', `/service-policies/${dialPolicy}`, { identityRoles: ['#clients'] })
      await startClient()
      await fetchFile(byProxy, MINUTE)
    },
    3 * MINUTE,
  )

  it(
    'a stream ends at the instant at which the term of its policy ends, and not before',
    async () => {
      const lastsMs = 4000
      const until = Date.now() + lastsMs
      await admin.call('PATCH', `/service-policies/${dialPolicy}`, { until: new Date(until).toISOString() })
      const clock = await hearClock()
      await sleep(until - Date.now() - 300)
      expect(clock.isTicking()).toBe(true)
      await expect.poll(() => clock.isTicking(), { timeout: 300 + SOON_MS, interval: 20 }).toBe(false)
      console.log(`the stream was seen to end ${Date.now() - until} ms after the instant`)
      expect(await comesThrough()).toBe(false)
      await admin.call('PATCH', `/service-policies/${dialPolicy}`, { until: '2990-01-01T00:00:00Z' })
      await startClient()
      await fetchFile(byProxy, MINUTE)
    },
    3 * MINUTE,
  )

  it(
    'a stream ends with the right of the host to bind, and with the identity of the host',
    async () => {
      const bind = await idNamed('/service-policies', 'hosts bind web')
      const { ending } = await endsWith(() =>
        admin.call('PATCH', `/service-policies/${bind}`, { identityRoles: ['#no'] }),
      )
      expect(ending).toBe('access-lost')
      await admin.call('PATCH', `/service-policies/${bind}`, { identityRoles: ['#hosts'] })
      await startHost('host')
      await endsWith(() => admin.call('POST', `/identities/${host}/disable`, { durationMinutes: 0 }))
      await admin.call('POST', `/identities/${host}/enable`, {})
      await startHost('host')
      await endsWith(() => admin.call('DELETE', `/identities/${host}`))
      await newHost('other-host')
      await fetchFile(byProxy, MINUTE)
    },
    5 * MINUTE,
  )

  it(
    'a stream ends with a router that is to enroll anew, and comes again when it has',
    async () => {
      await endsWith(() => admin.call('POST', `/edge-routers/${far}/re-enroll`, {}))
      await end(farProcess)
      const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${far}`)
      await writeFile(file('far.jwt'), String(enrollmentJwt))
      const enroll = ['router', 'enroll', file('far.yml'), '--jwt', file('far.jwt')]
      await runZiti(ziti ?? '', file('far.log'), enroll)
      farProcess = runRouter('far')
      await untilOnline(far)
      await fetchFile(byProxy, MINUTE)
    },
    3 * MINUTE,
  )

  it(
    'a stream ends with the router of the host that is deleted',
    async () => {
      const { ending } = await endsWith(() => admin.call('DELETE', `/edge-routers/${far}`))
      expect(ending).toBe('router-deleted')
      expect(await linksBetween(near, far)).toEqual([])
    },
    2 * MINUTE,
  )
})
