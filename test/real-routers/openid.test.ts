import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { createController } from 'portcullis'
import { routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, logIn } from '../../examples/traffic/network.ts'
import { fetchFile, freePorts, openClock, serveWeb, untilStopped } from '../../examples/traffic/web.ts'
import { findZiti, isOfLineOne, ZitiProcesses } from '../../examples/traffic/ziti.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-test' }
const ziti = findZiti()

if (ziti === undefined) {
  console.warn('SKIPPED: no real client logged in, because there is no `ziti` on the path and ZITI names none')
}

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let controller: Awaited<ReturnType<typeof createController>>
let server: RunningServer
let admin: Admin
let ports: readonly number[]
let dialPolicy: string
/** The requests of clients, as `METHOD path`. */
const asked: string[] = []
const ids = new Map<string, string>()
const file = (name: string) => join(folder, name)
const idOf = (name: string) => ids.get(name) ?? ''

/** Runs the program in a home of its own; answers what it printed. Rejects when it fails. */
function run(args: readonly string[]): Promise<string> {
  const env = { ...process.env, HOME: folder, ZITI_CONFIG_DIR: folder, ZITI_HOME: folder }
  const child = spawn(ziti ?? '', args, { env })
  let told = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (told += String(data)))
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => (code === 0 ? resolve(told) : reject(new Error(told))))
  })
}

async function device(name: string, role: string): Promise<void> {
  ids.set(name, await enrollDevice(admin, ziti ?? '', { name, role, files: file(name) }))
}

async function router(name: string, linkPort: number, edgePort: number): Promise<void> {
  const id = await enrollRouter(admin, ziti ?? '', { name }, { files: file(name), linkPort, edgePort })
  ids.set(name, id)
  processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await admin.call('GET', `/edge-routers/${id}`)).isOnline === true) return
    await sleep(200)
  }
  throw new Error(`router ${name} did not come online`)
}

const listOf = async (path: string) =>
  Object.values(await admin.call('GET', path)) as { id: string; identityId: string; createdAt: string }[]
const sessionsOf = async (name: string) =>
  (await listOf('/api-sessions?limit=500')).filter(({ identityId }) => identityId === idOf(name))

/** The effect of a change on running traffic: ms until it stands still, and until a file comes through again. */
async function change(cut: () => Promise<unknown>, grant: () => Promise<unknown>) {
  const port = ports.at(-1) ?? 0
  await fetchFile(port)
  const clock = await openClock(port)
  await sleep(300)
  expect(clock.isTicking()).toBe(true)
  await cut()
  const cutAfterMs = await untilStopped(clock)
  clock.close()
  const begun = performance.now()
  await grant()
  await fetchFile(port)
  return { cutAfterMs, grantedAfterMs: performance.now() - begun }
}

describe.skipIf(ziti === undefined)('unmodified clients and a router with logins by OpenID Connect', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-openid-'))
    processes = new ZitiProcesses(ziti ?? '')
    web = await serveWeb()
    ports = await freePorts(4)
    const [port = 0, link = 0, edge = 0, byProxy = 0] = ports
    controller = await createController({
      storage: memoryStorage(),
      address: `127.0.0.1:${port}`,
      admin: ADMIN,
      rateLimits: false,
    })
    const listening: typeof controller = {
      ...controller,
      fetch: (request, connection) => {
        asked.push(`${request.method} ${new URL(request.url).pathname}`)
        return controller.fetch(request, connection)
      },
    }
    server = await serve(listening, { port, fabric: true })
    admin = await logIn(controller, ADMIN)
    dialPolicy = (await createNetwork(admin, web.port)).dialPolicy
    await router('first', link, edge)
    await device('host', 'hosts')
    await device('client', 'clients')
    asked.length = 0
    processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
    processes.start(file('client.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`])
    await fetchFile(byProxy, 60_000)
  }, 180_000)

  afterAll(async () => {
    await processes?.stop()
    web?.close()
    await server?.close({ graceMs: 0 })
    await controller?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('the command line logs in by password and lists what there is', async () => {
    const before = asked.length
    const address = `127.0.0.1:${ports[0]}`
    await run(['edge', 'login', address, '-u', ADMIN.username, '-p', ADMIN.password, '-y'])
    expect(await run(['edge', 'list', 'identities'])).toContain('client')
    const seen = asked.slice(before)
    const bySession = seen.filter((one) => one.includes('/authenticate'))
    if (isOfLineOne(ziti ?? '')) {
      expect(bySession).toEqual(['POST /edge/management/v1/authenticate'])
      return
    }
    expect(seen).toContain('POST /oidc/login/password')
    expect(seen).toContain('POST /oidc/oauth/token')
    expect(bySession).toEqual([])
  }, 60_000)

  it('SDKs log in by their certificates, and carry a file without a stored service session', async () => {
    expect(asked).toContain('POST /oidc/login/cert')
    expect(asked.filter((one) => one.includes('/client/v1/authenticate'))).toEqual([])
    for (const name of ['host', 'client']) expect(await sessionsOf(name)).toHaveLength(1)
    expect(await listOf('/sessions')).toEqual([])
  })

  it('what changes cuts and grants within two seconds, with traffic flowing', async () => {
    const roles = { serviceRoles: ['#web'], identityRoles: ['#clients'] }
    const policy = { name: 'clients dial web', type: 'Dial', semantic: 'AnyOf', ...roles }
    const [service] = await listOf('/services?filter=name=%22web%22')
    const patch = (path: string, body: object) => () => admin.call('PATCH', path, body)
    const identity = `/identities/${idOf('client')}`
    const changes: Readonly<Record<string, readonly [() => Promise<unknown>, () => Promise<unknown>]>> = {
      policy: [
        () => admin.call('DELETE', `/service-policies/${dialPolicy}`),
        () => admin.create('/service-policies', policy),
      ],
      'attribute of the identity': [
        patch(identity, { roleAttributes: [] }),
        patch(identity, { roleAttributes: ['clients'] }),
      ],
      'attribute of the service': [
        patch(`/services/${service?.id}`, { roleAttributes: [] }),
        patch(`/services/${service?.id}`, { roleAttributes: ['web'] }),
      ],
      'disabled identity': [
        () => admin.call('POST', `${identity}/disable`, { durationMinutes: 5 }),
        () => admin.call('POST', `${identity}/enable`, {}),
      ],
    }
    for (const [name, [cut, grant]] of Object.entries(changes)) {
      const { cutAfterMs, grantedAfterMs } = await change(cut, grant)
      console.log(`${name}: cut after ${cutAfterMs} ms, granted after ${Math.round(grantedAfterMs)} ms`)
      expect(cutAfterMs, name).toBeLessThan(2000)
      // An SDK that was shut out logs in again first, when it finds out.
      if (name !== 'disabled identity') expect(grantedAfterMs, name).toBeLessThan(2000)
    }
  }, 120_000)

  it('revoking a session or all of an identity cuts within two seconds, and a new login goes on', async () => {
    const revoke = (type: string, of: () => Promise<string>) => async () =>
      admin.call('POST', '/revocations', { type, id: await of() })
    // An SDK that was shut out may have logged in more than once: the newest session is the one that it uses.
    const session = async () => {
      const [newest] = (await sessionsOf('client')).sort((a, b) => b.createdAt.localeCompare(a.createdAt))
      return newest?.id ?? ''
    }
    for (const [name, cut] of Object.entries({
      session: revoke('API_SESSION', session),
      identity: revoke('IDENTITY', async () => idOf('client')),
      'deleted session': async () => admin.call('DELETE', `/api-sessions/${await session()}`),
    })) {
      const { cutAfterMs } = await change(cut, async () => undefined)
      console.log(`revoked ${name}: cut after ${cutAfterMs} ms`)
      expect(cutAfterMs, name).toBeLessThan(2000)
    }
  }, 120_000)

  it('a router that was fed change by change keeps the same model as one that was told all of it', async () => {
    const [link = 0, edge = 0] = await freePorts(2)
    await router('second', link, edge)
    const isLevel = async () => {
      const [first, second] = await Promise.all(['first', 'second'].map((name) => keptModel(name).catch(() => [])))
      return { first, second }
    }
    await expect
      .poll(async () => (await isLevel()).second?.length ?? 0, { timeout: 90_000, interval: 1000 })
      .toBeGreaterThan(0)
    await expect
      .poll(
        async () => {
          const { first, second } = await isLevel()
          return first?.join('\n') === second?.join('\n')
        },
        { timeout: 90_000, interval: 1000 },
      )
      .toBe(true)
    const { first = [], second = [] } = await isLevel()
    expect(first).toEqual(second)
    for (const name of ['host', 'client']) expect(second.some((text) => text.includes(idOf(name)))).toBe(true)
    expect(second.filter((text) => text.includes('"revocation"')).length).toBeGreaterThan(0)
  }, 240_000)

  it('the router judges posture by what the SDK tells it: a process that ends refuses the next dial', async () => {
    const path = file('guard')
    await copyFile('/bin/sleep', path)
    const guard = spawn(path, ['600'])
    const check = { name: 'guard', typeId: 'PROCESS', process: { osType: 'Linux', path }, roleAttributes: ['guard'] }
    await admin.create('/posture-checks', check)
    const [policy] = await listOf('/service-policies?filter=name=%22clients dial web%22')
    await admin.call('PATCH', `/service-policies/${policy?.id}`, { postureCheckRoles: ['#guard'] })
    const port = (await freePorts(1))[0] ?? 0
    // An SDK reads which posture is asked for as it starts.
    processes.start(file('posture.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${port}`])
    if (isOfLineOne(ziti ?? '')) {
      await expect(fetchFile(port, 15_000)).rejects.toThrow('did not come')
      await admin.call('PATCH', `/service-policies/${policy?.id}`, { postureCheckRoles: [] })
      await fetchFile(port)
      guard.kill()
      return
    }
    await fetchFile(port, 30_000)
    const clock = await openClock(port)
    const reports = () => asked.filter((one) => one.includes('/posture-response')).length
    const before = reports()
    guard.kill()
    // SDKs look at processes every ten seconds. One of the line 1.6 tells the controller, which ends what is under way.
    for (let tries = 0; before > 0 && reports() === before && tries < 300; tries += 1) await sleep(50)
    if (reports() > before) {
      const cutAfterMs = await untilStopped(clock)
      console.log(`posture: cut ${cutAfterMs} ms after it was reported`)
      expect(cutAfterMs).toBeLessThan(2000)
    }
    clock.close()
    await expect.poll(() => dials(port), { timeout: 30_000, interval: 300 }).toBe(false)
    await admin.call('PATCH', `/service-policies/${policy?.id}`, { postureCheckRoles: [] })
    await fetchFile(port)
  }, 120_000)
})

/** The data model of a router, which it writes down every half minute: entities by type and id, and relations. */
async function keptModel(name: string): Promise<readonly string[]> {
  const bytes = gunzipSync(await readFile(file(`${name}.model.gz`)))
  const { events } = routerSide.StateEvents.decode(bytes)
  return events
    .flatMap(({ action: _action, ...event }) => {
      const { servicePolicyChange: change } = event
      if (change === undefined)
        return [JSON.stringify(event, (_key, value) => (value instanceof Map ? [...value] : value))]
      return change.relatedEntityIds.map((id) => `${change.policyId} ${change.relatedEntityType} ${id} ${change.add}`)
    })
    .sort()
}

/** Reports whether a new connection carries something. */
async function dials(port: number): Promise<boolean> {
  const clock = await openClock(port).catch(() => undefined)
  if (clock === undefined) return false
  await sleep(200)
  const isTicking = clock.isTicking()
  clock.close()
  return isTicking
}
