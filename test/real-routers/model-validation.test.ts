import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createController } from 'portcullis'
import { routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, logIn } from '../../examples/traffic/network.ts'
import { fetchFile, freePorts, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'
import { changeAtRandom } from '../support/random-changes.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-test' }
const ziti = findZiti()

if (ziti === undefined) {
  console.warn('SKIPPED: no real router compared its model, because there is no `ziti` on the path and ZITI names none')
}

interface Comparison {
  readonly differences: readonly { readonly entityType: string; readonly entityId: string; readonly kind: string }[]
  readonly differenceCount: number
  readonly notCompared: readonly string[]
}

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let controller: Awaited<ReturnType<typeof createController>>
let server: RunningServer
let admin: Admin
let routerId: string
/** Epoch ms at which the router that compares came online, and asked for changes of the model. */
let subscribedAt: number
let router: ChildProcess
/** A router of the line 1.6 would end if it compared identities that have configs of their own. */
let takesOverrides = true
const file = (name: string) => join(folder, name)

const device = (name: string, role: string) => enrollDevice(admin, ziti ?? '', { name, role, files: file(name) })

/** Creates, enrolls and starts a router; answers its id once it is online. */
async function newRouter(name: string): Promise<string> {
  const [linkPort = 0, edgePort = 0] = await freePorts(2)
  const fields = { name, isTunnelerEnabled: true }
  const id = await enrollRouter(admin, ziti ?? '', fields, { files: file(name), linkPort, edgePort })
  router = await startRouter(name, id)
  return id
}

async function startRouter(name: string, id: string): Promise<ChildProcess> {
  const started = processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await admin.call('GET', `/edge-routers/${id}`)).isOnline === true) return started
    await sleep(200)
  }
  throw new Error(`router ${name} did not come online`)
}

/** Kinds that routers before the line 2.1 are not asked to compare, because they would end; later ones judge posture and compare all. */
async function partsLeftOut(): Promise<readonly string[]> {
  const { capabilities } = await admin.call('GET', `/edge-routers/${routerId}`)
  const words: readonly unknown[] = Array.isArray(capabilities) ? capabilities : []
  return words.includes('POSTURE_CHECKS') ? [] : ['config-overrides', 'revocations']
}

async function compare(): Promise<Comparison> {
  const answer: unknown = await admin.call('POST', `/portcullis/v1/routers/${routerId}/validate-data-model`)
  // That is what the operation answers.
  return answer as Comparison
}

/** Compares until the router has taken in what was on its way. */
async function settled(): Promise<Comparison> {
  // Deployed routers may crash while they compare what changes at the same moment.
  await sleep(3000)
  for (let tries = 0; ; tries += 1) {
    const comparison = await compare()
    if (comparison.differenceCount === 0 || tries === 10) return comparison
    await sleep(500)
  }
}

describe.skipIf(ziti === undefined)('a real router compares its data model with that of the controller', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-validation-'))
    processes = new ZitiProcesses(ziti ?? '')
    web = await serveWeb()
    const [port = 0, byProxy = 0] = await freePorts(2)
    const address = `127.0.0.1:${port}`
    controller = await createController({ storage: memoryStorage(), address, admin: ADMIN, rateLimits: false })
    server = await serve(controller, { port, fabric: true })
    admin = await logIn(controller, ADMIN)
    await createNetwork(admin, web.port)
    // A model that somebody follows goes on: a router that comes back is told what it missed, and not all of it.
    await newRouter('other')
    routerId = await newRouter('router')
    subscribedAt = Date.now()
    // Records that routers derive for connected clients are compared as well.
    await device('host', 'hosts')
    await device('client', 'clients')
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

  it('and goes on when an identity has configs of its own, asked or not', async () => {
    const idOf = async (path: string) => {
      const [found] = Object.values(
        await admin.call('GET', `${path}?filter=name=%22web%22 or name=%22client%22 or name=%22web.host%22`),
      )
      return String(Reflect.get(Object(found), 'id'))
    }
    const identity = `/identities/${await idOf('/identities')}/service-configs`
    const overrides = [{ serviceId: await idOf('/services'), configId: await idOf('/configs') }]
    await admin.call('POST', identity, overrides)
    const outcome = await compare().then(
      ({ notCompared }) => notCompared,
      (error: unknown) => String(error),
    )
    takesOverrides = Array.isArray(outcome)
    if (takesOverrides) expect(outcome).toEqual(await partsLeftOut())
    else expect(outcome).toContain('it would end')
    await sleep(1000)
    expect(router.exitCode).toBeNull()
    await admin.call('DELETE', identity, overrides)
  }, 60_000)

  it('and finds no difference after a thousand random changes', async () => {
    await changeAtRandom(admin, { count: 1000, seed: 13, withOverrides: takesOverrides })
    const { differences, differenceCount, notCompared } = await settled()
    expect(differences).toEqual([])
    expect(differenceCount).toBe(0)
    expect(notCompared).toEqual(await partsLeftOut())
    expect(router.exitCode).toBeNull()
  }, 180_000)

  it('and has each of a hundred changes that were made before, at and after the renewal of its subscription', async () => {
    // Routers ask for five minutes of changes, and ask anew up to half a minute after these are over.
    const at = (seconds: number) => subscribedAt + seconds * 1000
    await sleep(Math.max(at(295) - Date.now(), 0))
    const perRound = 10
    for (let changes = 0; changes < 100 || Date.now() < at(340); changes += perRound) {
      await changeAtRandom(admin, { count: perRound, seed: 100 + changes, withOverrides: takesOverrides })
      const { differences } = await settled()
      expect(differences, `${Math.round((Date.now() - subscribedAt) / 1000)} s after the subscription`).toEqual([])
    }
    expect(router.exitCode).toBeNull()
  }, 600_000)

  it('and finds what was damaged in the model that it kept', async () => {
    const service = await admin.create('/services', { name: 'kept', encryptionRequired: false })
    const identity = await admin.create('/identities', { name: 'lost', type: 'Device', isAdmin: false })
    const kept = () => readFile(file('router.model.gz')).then((bytes) => gunzipSync(bytes))
    // Routers write down what they have every half minute.
    await expect.poll(async () => (await kept()).includes(identity), { timeout: 90_000, interval: 1000 }).toBe(true)
    router.kill('SIGKILL')
    await once(router, 'exit')
    const bytes = await kept()
    const { events } = routerSide.StateEvents.decode(bytes)
    const damaged = events.flatMap((event) => {
      if (event.identity?.id === identity) return []
      if (event.service?.id !== service) return [event]
      return [{ ...event, service: { ...event.service, encryptionRequired: true } }]
    })
    const facts = routerSide.StateFacts.encode(routerSide.StateFacts.decode(bytes))
    const state = Buffer.concat([routerSide.StateEvents.encode({ events: damaged }), facts])
    await writeFile(file('router.model.gz'), gzipSync(state))
    router = await startRouter('router', routerId)
    const found = async () => (await compare().catch(() => undefined))?.differences.map(({ entityId }) => entityId)
    await expect.poll(found, { timeout: 30_000, interval: 500 }).toEqual(expect.arrayContaining([identity, service]))
  }, 180_000)
})
