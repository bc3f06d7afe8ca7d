import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { routerSide } from 'portcullis/fabric'
import { httpsFetch } from 'portcullis/node'
import { FakeRouter, TEST_ADMIN } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, letRoutersCarry, logIn } from '../../examples/traffic/network.ts'
import type { RouterConfig } from '../../examples/traffic/router-config.ts'
import { fetchFile, freePorts, openClock, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'
import { createDatabase, type PostgresDatabase } from '../support/postgres.ts'
import { changeAtRandom } from '../support/random-changes.ts'
import type { RoutedProcessTask } from '../support/routed-process.ts'
import { adminToken, enrollTlsRouter, overTls } from '../support/tls-router.ts'

const { CONTENT_TYPE, Subscribe } = routerSide
const ziti = findZiti()
const MINUTE = 60_000
const NONE = '0: []'

if (ziti === undefined) {
  console.warn('SKIPPED: no real router failed over, because there is no `ziti` on the path and ZITI names none')
}

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let database: PostgresDatabase
let ports: readonly number[] = []
let byRouter = 0
let byProxy = 0
let routers: readonly string[] = []
const running = new Map<number, ChildProcess>()
const file = (name: string) => join(folder, name)

/** Starts the controller of a port; answers its admin. */
async function startController(port: number): Promise<Admin> {
  const child = fork(join(import.meta.dirname, '../support/routed-process.ts'), {
    execArgv: ['--conditions=portcullis-source'],
  })
  running.set(port, child)
  const others = ports.filter((other) => other !== port)
  const task: RoutedProcessTask = { url: database.url, pki: file('pki'), port, others, admin: TEST_ADMIN }
  child.send(task)
  await once(child, 'message')
  return adminOf(port)
}

async function adminOf(port: number): Promise<Admin> {
  return logIn(await reach(port), TEST_ADMIN)
}

/** The controller of a port, over TLS. */
async function reach(port: number) {
  const fetch = httpsFetch({ ca: await readFile(file('pki/ca.pem'), 'utf8') })
  return {
    fetch: (request: Request) => {
      const { pathname, search } = new URL(request.url)
      return fetch(new Request(`https://127.0.0.1:${port}${pathname}${search}`, request))
    },
  }
}

/** Has a controller read the model while there is nearly nothing in it: what it remembers of it must not reach anybody later. */
async function subscribeEarly(port: number): Promise<void> {
  const controller = await reach(port)
  const bystander = await enrollTlsRouter(controller, await adminToken(controller), `bystander-${port}`)
  const router = new FakeRouter(bystander, overTls(port, bystander))
  await router.connect()
  const body = Subscribe.encode({ subscriptionId: 'mine', subscriptionDurationSeconds: 300 })
  router.send(CONTENT_TYPE.subscribeToModel, body)
  await router.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
}

async function killController(port: number): Promise<void> {
  const child = running.get(port)
  if (child === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  running.delete(port)
}

async function startRouter(admin: Admin, name: string, config: Omit<RouterConfig, 'files'>): Promise<string> {
  const fields = { name, isTunnelerEnabled: true }
  const id = await enrollRouter(admin, ziti ?? '', fields, { ...config, files: file(name) })
  processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])
  await vi.waitUntil(async () => (await admin.call('GET', `/edge-routers/${id}`)).isOnline, { timeout: MINUTE })
  return id
}

/** Waits until a router has the model of the process that is asked; answers what it found last: no differences, or why not. */
async function settled(admin: Admin, routerId: string): Promise<unknown> {
  const deadline = Date.now() + MINUTE
  for (;;) {
    const path = `/portcullis/v1/routers/${routerId}/validate-data-model`
    const found = await admin.call('POST', path).then(
      ({ differenceCount, differences }) => `${differenceCount}: ${JSON.stringify(differences).slice(0, 500)}`,
      (error: unknown) => String(error),
    )
    if (found === NONE || Date.now() > deadline) return found
    await sleep(1000)
  }
}

describe.skipIf(ziti === undefined)('real routers of two controllers over one PostgreSQL database', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-failover-'))
    processes = new ZitiProcesses(ziti ?? '')
    web = await serveWeb()
    database = await createDatabase()
    const [one = 0, two = 0, link1 = 0, edge1 = 0, link2 = 0, edge2 = 0, ...proxied] = await freePorts(8)
    ports = [one, two]
    ;[byRouter = 0, byProxy = 0] = proxied
    const admin = await startController(one)
    await startController(two)
    for (const port of ports) await subscribeEarly(port)
    await createNetwork(admin, web.port)
    const hosting = await startRouter(admin, 'hosting', { linkPort: link1, edgePort: edge1 })
    const dials = { service: 'web-by-router', port: byRouter }
    const dialing = await startRouter(admin, 'dialing', { linkPort: link2, edgePort: edge2, proxied: dials })
    routers = [hosting, dialing]
    await letRoutersCarry(admin, hosting, dialing)
    for (const [name, role] of [
      ['host', 'hosts'],
      ['client', 'clients'],
    ] as const) {
      await enrollDevice(admin, ziti ?? '', { name, role, files: file(name) })
    }
    processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
    processes.start(file('client.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`])
    for (const port of [byRouter, byProxy]) await fetchFile(port, MINUTE)
  }, 4 * MINUTE)

  afterAll(async () => {
    await processes?.stop()
    for (const port of ports) await killController(port)
    web?.close()
    await database?.drop()
    console.log(`logs are in ${folder}`)
  })

  it('keep their traffic and have the model of now, whichever controller is killed', {
    timeout: 8 * MINUTE,
  }, async () => {
    const clocks = [await openClock(byRouter), await openClock(byProxy)]
    const tick = () => clocks.map((clock) => clock.isTicking())
    for (const [turn, killed] of [...ports, ...ports].entries()) {
      const kept = ports.find((port) => port !== killed) ?? 0
      const changing = await adminOf(killed)
      // The process that is killed is the one that made the last changes: the other one hears of them by the database.
      await changeAtRandom(changing, { count: 200, seed: turn, withOverrides: false })
      await killController(killed)
      await sleep(1000)
      expect(tick()).toEqual([true, true])
      const admin = await adminOf(kept)
      for (const id of routers) expect(await settled(admin, id)).toBe(NONE)
      const took = [await fetchFile(byRouter, MINUTE), await fetchFile(byProxy, MINUTE)]
      console.log(`new circuits beside a killed controller took ${took.join(' and ')} ms`)
      expect(tick()).toEqual([true, true])
      await startController(killed)
    }
    for (const clock of clocks) clock.close()
  })
})
