import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { type Controller, createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import {
  enroll,
  type Identity,
  type IdentityFile,
  type IdentityOptions,
  openIdentity,
  type ServiceConnection,
} from 'portcullis/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { EDGE_HEADER, EDGE_TYPE, TRUE } from '../../adapters/network/channel/edge-messages.ts'
import { encodeFrame, type Frame, FrameReader } from '../../adapters/network/channel/frame.ts'
import { readBool, textBytes } from '../../adapters/network/channel/header-values.ts'
import { enrollRouter } from '../../adapters/network/router/control/enrolled-router.ts'
import { runRouter } from '../../adapters/network/router/standalone-router.ts'
import { type Admin, logIn } from '../../examples/traffic/network.ts'
import { freePorts } from '../../examples/traffic/web.ts'
import { endAll, portcullis, type Running, workersOf } from '../adapters/cli/cli-process.ts'
import { until } from '../support/linked-network.ts'

/** A process that is started anew compiles its source. */
const RESTART_MS = 60_000
const MIB = 1024 * 1024

let folder = ''
let controller: Controller
let server: RunningServer
let admin: Admin
let routerId = ''
let edgePort = 0
let running: Running
const opened: Identity[] = []
let devices = 0

const cli = (...args: readonly string[]) => portcullis(['router', ...args], { cwd: folder })
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A value of the router's state, as operators ask for it. */
async function inspect(name: string) {
  const body = { appRegex: routerId, requestedValues: [name] }
  const { values } = await admin.call('POST', '/fabric/v1/inspections', body)
  return Object(Object(Object.values(Object(values))[0]).value)
}

/** Inspections are answered without an envelope, which every other answer has. */
async function enveloped(request: Request): Promise<Response> {
  const response = await controller.fetch(request)
  return request.url.endsWith('/inspections') ? Response.json({ data: await response.json() }) : response
}

const counts = async () => {
  const { circuits, crossing } = await inspect('router-workers')
  return { circuits, crossing }
}

/** The process of each worker, by the connections that it has. */
async function workers(): Promise<readonly { readonly process: number; readonly connections: number }[]> {
  return (await inspect('router-workers')).workers
}

const isOnline = async () => (await admin.call('GET', `/edge-routers/${routerId}`)).isOnline

async function start(...more: readonly string[]): Promise<Running> {
  const started = cli('run', '--workers', '2', ...more)
  expect(await started.ready).toMatch(/ runs at 127\.0\.0\.1:\d+, 2 workers$/)
  await until(isOnline, true)
  return started
}

async function enrolled(role: 'hosts' | 'clients' | 'far' | 'checked'): Promise<IdentityFile> {
  devices += 1
  const fields = { name: `${role}-${devices}`, type: 'Device', isAdmin: false, roleAttributes: [role] }
  const id = await admin.create('/identities', { ...fields, enrollment: { ott: true } })
  const { enrollment } = await admin.call('GET', `/identities/${id}`)
  return enroll(String(Object(Object(enrollment).ott).jwt))
}

async function device(role: 'hosts' | 'clients' | 'far' | 'checked', options: IdentityOptions = {}): Promise<Identity> {
  const identity = await openIdentity(await enrolled(role), options)
  opened.push(identity)
  return identity
}

/** The worker that got a connection since a moment. */
async function placed(connect: () => Promise<unknown>): Promise<number> {
  const before = await workers()
  await connect()
  let place = -1
  await until(async () => {
    const now = await workers()
    place = now.findIndex(({ connections }, at) => connections > (before[at]?.connections ?? 0))
    return place >= 0
  }, true)
  return place
}

const echo = (connection: ServiceConnection) => void connection.on('error', () => undefined).pipe(connection)

/** A client at a worker: connections are handed to the worker with the fewest, so that others are opened until one is there. */
async function clientAt(worker: number, service: string, options: IdentityOptions = {}) {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const client = await device('clients', options)
    let connection: ServiceConnection | undefined
    const place = await placed(async () => {
      connection = (await client.dial(service)).on('error', () => undefined)
    })
    if (place === worker && connection !== undefined) return { client, connection }
    connection?.destroy()
  }
  throw new Error(`no connection came to worker ${worker}`)
}

async function exchanged(connection: ServiceConnection, bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  connection.end(bytes)
  for await (const piece of connection) hash.update(piece)
  return hash.digest('hex')
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-many-'))
  const [apis = 0, port = 0] = await freePorts(2)
  const keeper = { username: 'keeper', password: 'a-secret-of-mine' }
  edgePort = port
  controller = await createController({
    ...{ storage: memoryStorage(), address: `127.0.0.1:${apis}`, admin: keeper, rateLimits: false },
  })
  server = await serve(controller, { port: apis, fabric: true })
  admin = await logIn({ fetch: enveloped }, keeper)
  routerId = await admin.create('/edge-routers', { name: 'many', roleAttributes: ['near'], isTunnelerEnabled: false })
  const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${routerId}`)
  await writeFile(join(folder, 'many.jwt'), String(enrollmentJwt))
  expect((await cli('enroll', 'many.jwt', '--listen', `127.0.0.1:${port}`).ended).code).toBe(0)
  const all = { semantic: 'AnyOf', serviceRoles: ['#all'] }
  await admin.create('/service-policies', { ...all, name: 'dial', type: 'Dial', identityRoles: ['#clients'] })
  await admin.create('/service-policies', { ...all, name: 'bind', type: 'Bind', identityRoles: ['#hosts', '#far'] })
  const meet = (name: string, identityRoles: readonly string[]) => ({
    ...{ name, semantic: 'AnyOf', edgeRouterRoles: [`#${name}`], identityRoles },
  })
  await admin.create('/edge-router-policies', meet('near', ['#hosts', '#clients', '#checked']))
  await admin.create('/edge-router-policies', meet('far', ['#far']))
  const everywhere = { semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] }
  await admin.create('/service-edge-router-policies', { ...everywhere, name: 'all' })
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((identity) => identity.close()))
  running?.kill('SIGTERM')
  await running?.ended
})
afterAll(async () => {
  endAll()
  await server.close({ graceMs: 0 })
  await controller.close()
  await rm(folder, { recursive: true, maxRetries: 10 })
})

describe.skipIf(process.platform !== 'linux')('portcullis router run --workers', { timeout: 240_000 }, () => {
  it.each(['api-session', 'bearer'] as const)(
    'carries circuits within a worker and between two, whole and half closed (%s)',
    async (sessions) => {
      running = await start()
      const service = `echo-${sessions}`
      await admin.create('/services', { name: service, encryptionRequired: sessions === 'bearer' })
      const host = await device('hosts', { sessions })
      const at = await placed(() => host.host(service, echo))
      const bytes = randomBytes(8 * MIB)
      const clients: Identity[] = []
      for (const [place, crossing] of [
        [at, 0],
        [1 - at, 1],
      ] as const) {
        const { client, connection } = await clientAt(place, service, { sessions })
        clients.push(client)
        await until(counts, { circuits: 1, crossing })
        connection.write('first')
        expect(String((await once(connection, 'data'))[0])).toBe('first')
        expect(await exchanged(connection, bytes)).toBe(digest(bytes))
        await until(counts, { circuits: 0, crossing: 0 })
      }
      // Dials of both workers are under way together: a controller that names circuits itself does not say whose they are.
      const dialing = Array.from({ length: 40 }, (_, number) => clients[number % 2]?.dial(service))
      const words = (await Promise.all(dialing)).map((dialed, number) => {
        if (dialed === undefined) throw new Error('there are two clients')
        dialed.end(`word ${number}`)
        return text(dialed)
      })
      expect(await Promise.all(words)).toEqual(words.map((_, number) => `word ${number}`))
      await until(counts, { circuits: 0, crossing: 0 })
    },
  )

  it('ends what a killed worker carried, with a cause at both ends; all else goes on, and it is back', async () => {
    running = await start()
    await admin.create('/services', { name: 'mortal', encryptionRequired: false })
    const host = await device('hosts')
    const at = await placed(() => host.host('mortal', echo))
    const same = await clientAt(at, 'mortal')
    const other = await clientAt(1 - at, 'mortal')
    await until(counts, { circuits: 2, crossing: 1 })
    const lost = closing(other.connection)
    const events: string[] = []
    controller.events.on('circuit.closed', ({ reason }) => void events.push(reason))
    await killed(1 - at)
    // Its own connection is gone with the process; the host hears that its dialer is gone, and so does the controller.
    expect(await lost).toMatchObject({ code: 'CONNECTION_LOST' })
    await until(counts, { circuits: 1, crossing: 0 })
    expect(events).toEqual(['client-closed'])
    same.connection.write('goes on')
    expect(String((await once(same.connection, 'data'))[0])).toBe('goes on')
    await until(async () => (await workers()).length, 2, RESTART_MS)
    await until(async () => (await inspect('sdk-terminators')).entries.length, 1)
    const back = await clientAt(1 - at, 'mortal')
    await until(counts, { circuits: 2, crossing: 1 })

    // The worker of the host: its terminator is gone at once, and registered anew where the host connects again.
    const cut = [closing(same.connection), closing(back.connection)]
    await killed(at)
    expect((await Promise.all(cut))[0]).toMatchObject({ code: 'CONNECTION_LOST' })
    expect(events.toSorted()).toEqual(['client-closed', 'client-closed', 'host-closed'])
    await until(async () => (await back.client.dial('mortal')).on('error', () => undefined).writable, true, RESTART_MS)
    await until(async () => Object.values(await admin.call('GET', '/terminators')).length, 1)
    expect(running.stderrSoFar()).toMatch(/worker\.ended .*SIGKILL/)
  })

  it('cuts circuits at all workers when access ends, sessions end or a router is asked to', async () => {
    running = await start()
    await admin.create('/services', { name: 'guarded', roleAttributes: ['guarded'], encryptionRequired: false })
    const host = await device('hosts')
    await placed(() => host.host('guarded', echo))
    const both = [await clientAt(0, 'guarded'), await clientAt(1, 'guarded')]
    await until(counts, { circuits: 2, crossing: 1 })
    const ends = both.map(({ connection }) => closing(connection))
    const policies = Object.values(await admin.call('GET', '/service-policies?filter=name=%22dial%22'))
    const { id } = Object(policies[0])
    await admin.call('PATCH', `/service-policies/${id}`, { identityRoles: ['#nobody'] })
    await Promise.all(ends).finally(() =>
      admin.call('PATCH', `/service-policies/${id}`, { identityRoles: ['#clients'] }),
    )
    await until(counts, { circuits: 0, crossing: 0 })
    const again = await Promise.all(both.map(({ client }) => client.dial('guarded')))
    const over = again.map(closing)
    const identities = Object.values(
      await admin.call('GET', '/identities?filter=anyOf(roleAttributes)=%22clients%22&limit=500'),
    )
    for (const identity of identities)
      await admin.call('POST', `/identities/${Object(identity).id}/disable`, { durationMinutes: 0 })
    await Promise.all(over)
    await until(counts, { circuits: 0, crossing: 0 })
  })

  it('is one router to operators, and drains at a stop', async () => {
    running = await start()
    await admin.create('/services', { name: 'held', encryptionRequired: false })
    const host = await device('hosts')
    const at = await placed(() => host.host('held', echo))
    const { connection } = await clientAt(1 - at, 'held')
    const { circuits } = await inspect('router-circuits')
    const [circuit] = Object.values(circuits).map((shown) => Object(shown))
    // The way from end to end, without the socket in the middle.
    const [[one, other] = [], back] = Object.entries(circuit.routes)
    expect(back).toEqual([other, one])
    expect(circuit.destinations).toEqual({ [String(one)]: 'edge', [String(other)]: 'edge' })
    expect(Object.values(await admin.call('GET', '/edge-routers')).length).toBe(1)
    const { differences } = Object(await admin.call('POST', `/portcullis/v1/routers/${routerId}/validate-data-model`))
    expect(differences).toEqual([])
    const doctor = await cli('doctor').ended
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining('it runs')])
    running.kill('SIGTERM')
    await until(async () => running.stderrSoFar().includes('stopping on SIGTERM'), true)
    connection.write('while it stops')
    expect(String((await once(connection, 'data'))[0])).toBe('while it stops')
    const processes = workersOf(running.pid)
    expect(processes.length).toBe(2)
    connection.end()
    expect((await running.ended).code).toBe(0)
    for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('has all sockets of a channel at one worker, wherever they arrive', async () => {
    running = await start()
    const identity = await enrolled('clients')
    const opening = await openIdentity(identity, { sessions: 'api-session' })
    opened.push(opening)
    const { token } = (await opening.client.call('GET /current-api-session')).data
    const before = await workers()
    const founder = await socketOf(identity, token)
    const secret = founder.greeting.headers.get(EDGE_HEADER.groupSecret)
    expect(secret).toBeDefined()
    const sockets = [founder]
    while (sockets.length < 8) sockets.push(await socketOf(identity, token, secret))
    expect(sockets.map(({ greeting }) => readBool(greeting.headers, EDGE_HEADER.isAccepted))).toEqual(
      sockets.map(() => true),
    )
    const after = await workers()
    const added = after.map(({ connections }, at) => connections - (before[at]?.connections ?? 0))
    expect(Math.min(...added)).toBeGreaterThan(0)
    // A question by each of them is answered by any of them.
    for (const [number, { socket }] of sockets.entries()) {
      const answered = Promise.race(sockets.map((one) => one.next()))
      const headers = new Map([[EDGE_HEADER.probe, Uint8Array.of(number)]])
      socket.write(
        Buffer.concat(encodeFrame({ contentType: EDGE_TYPE.latency, sequence: number + 1, headers, body: [] })),
      )
      expect((await answered).headers.get(EDGE_HEADER.probe)).toEqual(Uint8Array.of(number))
    }
    const stranger = await socketOf(identity, token, Buffer.alloc(16))
    expect(readBool(stranger.greeting.headers, EDGE_HEADER.isAccepted)).toBe(false)
    for (const { socket } of sockets) socket.destroy()
  })

  it('holds links for circuits of all workers, also after the worker of the links was killed', async () => {
    running = await start()
    await admin.create('/services', { name: 'distant', encryptionRequired: false })
    const id = await admin.create('/edge-routers', { name: 'far', roleAttributes: ['far'], isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1'])
    const [port = 0] = await freePorts(1)
    const far = await runRouter({ identity, listen: `127.0.0.1:${port}`, linkGroups: [] })
    onTestFinished(() => far.close())
    const links = async () => Object.values(await admin.call('GET', '/fabric/v1/links')).length
    await until(links, 1)
    const host = await device('far')
    await host.host('distant', echo)
    const bytes = randomBytes(MIB)
    for (const worker of [0, 1]) {
      const { connection } = await clientAt(worker, 'distant')
      await until(counts, { circuits: 1, crossing: worker })
      expect(await exchanged(connection, bytes)).toBe(digest(bytes))
      await until(counts, { circuits: 0, crossing: 0 })
    }
    await killed(0)
    await until(links, 0)
    await until(async () => (await workers()).length, 2, RESTART_MS)
    await until(links, 1, RESTART_MS)
    const { connection } = await clientAt(1, 'distant')
    expect(await exchanged(connection, bytes)).toBe(digest(bytes))
  })

  it('ends a circuit whose posture fails, wherever its client is', async () => {
    running = await start()
    await admin.create('/services', { name: 'postured', encryptionRequired: false })
    const check = { name: 'at work', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['at-work'] }
    await admin.create('/posture-checks', check)
    await admin.create('/service-policies', {
      ...{ name: 'checked', type: 'Dial', semantic: 'AnyOf', serviceRoles: ['#all'], identityRoles: ['#checked'] },
      postureCheckRoles: ['#at-work'],
    })
    const host = await device('hosts')
    await placed(() => host.host('postured', echo))
    for (const sessions of ['api-session', 'bearer', 'bearer'] as const) {
      const client = await device('checked', { sessions })
      await client.report({ domain: 'corp.example' })
      const connection = await client.dial('postured')
      connection.write('hello')
      expect(String((await once(connection, 'data'))[0])).toBe('hello')
      const over = closing(connection)
      await client.report({ domain: 'elsewhere.example' })
      await over
      await expect(client.dial('postured')).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
    }
    expect((await workers()).map(({ connections }) => connections)).toEqual([2, 2])
  })

  it('shows renewed certificates at every worker', async () => {
    const file = async () => JSON.parse(await readFile(join(folder, 'router.json'), 'utf8')).identity
    const { key: before } = await file()
    running = await start('--renew-certificates')
    await until(async () => (await file()).key !== before && (await file()).pending === undefined, true)
    const { serverCert, ca } = await file()
    const renewed = new X509Certificate(serverCert).fingerprint256
    const shown = async () => {
      const socket = connect({ host: '127.0.0.1', port: edgePort, ca, ALPNProtocols: ['ziti-edge'] })
      await once(socket, 'secureConnect')
      return { socket, fingerprint: socket.getPeerX509Certificate()?.fingerprint256 }
    }
    const connections = [await shown(), await shown()]
    expect((await workers()).map(({ connections: held }) => held)).toEqual([1, 1])
    expect(connections.map(({ fingerprint }) => fingerprint)).toEqual([renewed, renewed])
    for (const { socket } of connections) socket.destroy()
  })

  it('leaves no worker behind when its first process is killed', async () => {
    running = await start()
    const processes = workersOf(running.pid)
    running.kill('SIGKILL')
    await running.ended
    const left = async () => processes.filter((pid) => isRunning(pid))
    await until(left, [])
  })

  it.each([
    [['--workers', 'many'], '--workers takes auto, or a number from 1 to 256'],
    [['--workers', '0'], '--workers takes auto, or a number from 1 to 256'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await cli('run', ...args).ended
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The error with which a connection ends; undefined for an end without one. */
function closing(connection: ServiceConnection): Promise<unknown> {
  return new Promise((resolve) => {
    let cause: unknown
    connection.on('error', (error) => {
      cause = error
    })
    connection.resume().once('close', () => resolve(cause))
  })
}

/** A socket of a channel of several; without a secret it is the first one. */
async function socketOf({ id }: IdentityFile, token: string, secret?: Uint8Array) {
  const pem = (text: string | undefined) => String(text).replace(/^pem:/, '')
  const tls = { key: pem(id.key), cert: pem(id.cert), ca: pem(id.ca), ALPNProtocols: ['ziti-edge'] }
  const socket = connect({ host: '127.0.0.1', port: edgePort, ...tls }).on('error', () => undefined)
  await once(socket, 'secureConnect')
  const reader = new FrameReader({ headers: 65_536, body: 65_536 })
  const waiting: ((frame: Frame) => void)[] = []
  socket.on('data', (bytes: Uint8Array) => {
    for (const frame of reader.push(bytes)) for (const work of waiting.splice(0)) work(frame)
  })
  const next = () => new Promise<Frame>((resolve) => waiting.push(resolve))
  const headers = new Map<number, Uint8Array>([
    [EDGE_HEADER.apiSessionToken, textBytes(token)],
    [EDGE_HEADER.connectionId, textBytes(`group of ${token}`)],
    [EDGE_HEADER.isGrouped, TRUE],
    secret === undefined ? [EDGE_HEADER.isFirstOfGroup, TRUE] : [EDGE_HEADER.groupSecret, secret],
  ])
  const greeted = next()
  socket.write(Buffer.concat(encodeFrame({ contentType: EDGE_TYPE.hello, sequence: -1, headers, body: [] })))
  return { socket, greeting: await greeted, next }
}

async function killed(worker: number): Promise<void> {
  const { process: pid } = (await workers())[worker] ?? { process: 0 }
  process.kill(pid, 'SIGKILL')
  await until(async () => isRunning(pid), false)
}
