import type { ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ControllerOptions, createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type ServeOptions, serve } from 'portcullis/node'
import { enrollRouter as enrollOwn } from '../../adapters/network/router/control/enrolled-router.ts'
import {
  runRouter,
  type StandaloneRouter,
  type StandaloneRouterOptions,
} from '../../adapters/network/router/standalone-router.ts'
import { enrollDevice } from '../../examples/traffic/enroll.ts'
import { type Admin, logIn } from '../../examples/traffic/network.ts'
import { routerConfig } from '../../examples/traffic/router-config.ts'
import { freePorts } from '../../examples/traffic/web.ts'
import { runZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-links' }

/** How a deployed router takes part in links: it is dialed, it dials, or both. */
export type LinkRole = 'listens' | 'dials' | 'both'

/** A deployed router that runs. */
export interface DeployedRouter {
  readonly id: string
  readonly name: string
  /** The program that it runs. */
  program: string
  process: ChildProcess
  /** Starts it again after it was killed, by another program where one is named. */
  restart(program?: string): void
}

/** A router of ours that runs. */
export type OwnRouter = StandaloneRouter & { readonly id: string }

/** A network of a controller in this process, for deployed routers and tunnelers and routers of ours. */
export class LinkedNetwork {
  readonly folder: string
  readonly admin: Admin
  /** A value of the state of a router, as operators ask for it. */
  readonly inspect: (routerId: string, name: string) => Promise<Readonly<Record<string, unknown>>>
  readonly processes: ZitiProcesses
  readonly events: string[] = []
  readonly #ziti: string
  readonly #close: () => Promise<void>
  readonly #own: StandaloneRouter[] = []

  private constructor(
    ziti: string,
    folder: string,
    { admin, inspect }: Pick<LinkedNetwork, 'admin' | 'inspect'>,
    processes: ZitiProcesses,
    close: () => Promise<void>,
  ) {
    this.#ziti = ziti
    this.folder = folder
    this.admin = admin
    this.inspect = inspect
    this.processes = processes
    this.#close = close
  }

  static async open(
    ziti: string,
    router: ServeOptions['router'] = false,
    options: Pick<ControllerOptions, 'directE2EE'> = {},
  ): Promise<LinkedNetwork> {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-links-'))
    const [port = 0] = await freePorts(1)
    const storage = memoryStorage()
    const controller = await createController({
      storage,
      address: `127.0.0.1:${port}`,
      admin: ADMIN,
      rateLimits: false,
      ...options,
    })
    const server = await serve(controller, { port, fabric: true, router })
    const processes = new ZitiProcesses(ziti)
    const admin = await logIn(controller, ADMIN)
    // Inspections are answered without the envelope that every other answer has.
    const enveloped = async (request: Request) =>
      Response.json({ data: await (await controller.fetch(request)).json() })
    const inspect: LinkedNetwork['inspect'] = async (routerId, name) => {
      const asking = await logIn(
        { fetch: (request) => (request.url.endsWith('/inspections') ? enveloped(request) : controller.fetch(request)) },
        ADMIN,
      )
      const body = { appRegex: routerId, requestedValues: [name] }
      const { values } = await asking.call('POST', '/fabric/v1/inspections', body)
      return Object(Object(Object.values(Object(values))[0]).value)
    }
    return new LinkedNetwork(ziti, folder, { admin, inspect }, processes, async () => {
      await processes.stop()
      await server.close({ graceMs: 0 })
      await controller.close()
      await rm(folder, { recursive: true, force: true })
    })
  }

  file(name: string): string {
    return join(this.folder, name)
  }

  /** A service that leads to a port here, hosted by devices at one router and dialed by devices at another. */
  async service(
    name: string,
    webPort: number,
    at: { readonly host: string; readonly client: string },
    encryptionRequired = true,
  ): Promise<void> {
    const { admin } = this
    const types = Object.values(await admin.call('GET', '/config-types?filter=name=%22host.v1%22')) as { id: string }[]
    const data = { protocol: 'tcp', address: '127.0.0.1', port: webPort }
    const config = await admin.create('/configs', { name: `${name}.host`, configTypeId: types[0]?.id, data })
    await admin.create('/services', { name, encryptionRequired, configs: [config], roleAttributes: [name] })
    for (const [type, role] of [
      ['Bind', 'host'],
      ['Dial', 'client'],
    ] as const) {
      const roles = { serviceRoles: [`#${name}`], identityRoles: [`#${name}-${role}`] }
      await admin.create('/service-policies', { name: `${name} ${type}`, type, semantic: 'AnyOf', ...roles })
      const meet = { semantic: 'AnyOf', edgeRouterRoles: [`@${at[role]}`], identityRoles: [`#${name}-${role}`] }
      await admin.create('/edge-router-policies', { name: `${name} ${role}`, ...meet })
    }
    const everywhere = { semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: [`#${name}`] }
    await admin.create('/service-edge-router-policies', { name: `${name} everywhere`, ...everywhere })
  }

  /** Enrolls and starts a deployed router; `groups` are those of its dialers and listeners. */
  async deployed(
    name: string,
    role: LinkRole,
    groups: readonly string[] = ['default'],
    program = this.#ziti,
  ): Promise<DeployedRouter> {
    const [linkPort = 0, edgePort = 0] = await freePorts(2)
    const files = this.file(name)
    const { admin } = this
    const id = await admin.create('/edge-routers', { name, roleAttributes: ['all'], isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    await writeFile(`${files}.jwt`, String(enrollmentJwt))
    const inGroups = `      groups: [${groups.join(', ')}]\n`
    const whole = routerConfig({ files, linkPort, edgePort })
      .replace(/ {2}- binding: tunnel\n.*\n/, '')
      .replace('    - binding: transport\n  listeners:\n', `    - binding: transport\n${inGroups}  listeners:\n`)
      .replace(/( {6}advertise: tls:.*\n)/, `$1${inGroups}`)
    const withoutDialers = whole.replace(/ {2}dialers:\n(?: {4}.*\n| {6}.*\n)+/, '')
    const withoutListeners = whole.replace(/ {2}listeners:\n {4}- binding: transport\n(?: {6}.*\n)+/, '')
    await writeFile(`${files}.yml`, role === 'both' ? whole : role === 'dials' ? withoutListeners : withoutDialers)
    await runZiti(program, `${files}.log`, ['router', 'enroll', `${files}.yml`, '--jwt', `${files}.jwt`])
    const start = (by: string) => this.processes.start(`${files}.log`, ['router', 'run', `${files}.yml`], by)
    const router: DeployedRouter = {
      id,
      name,
      program,
      process: start(program),
      restart(by) {
        this.program = by ?? this.program
        this.process = start(this.program)
      },
    }
    await this.untilOnline(id)
    return router
  }

  /** Enrolls a router of ours by the token of the controller and starts it. */
  async own(name: string, options: Omit<StandaloneRouterOptions, 'identity'>): Promise<OwnRouter> {
    const { admin } = this
    const id = await admin.create('/edge-routers', { name, roleAttributes: ['all'], isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollOwn(String(enrollmentJwt), ['127.0.0.1', 'localhost'])
    const log = (event: string, fields: object) => this.events.push(`${name} ${event} ${JSON.stringify(fields)}`)
    const router = await runRouter({ ...options, identity, log })
    this.#own.push(router)
    await this.untilOnline(id)
    return Object.assign(router, { id })
  }

  /** The enrollment token of a new device with a role. */
  async invite(role: string, name = role): Promise<string> {
    const fields = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
    const id = await this.admin.create('/identities', fields)
    const { enrollment } = await this.admin.call('GET', `/identities/${id}`)
    return String(Object(Object(enrollment).ott).jwt)
  }

  /** A device with a role of a service, and a tunneler that hosts or proxies it. */
  async tunneler(
    service: string,
    role: 'host' | 'client',
    port = 0,
    more: readonly string[] = [],
  ): Promise<ChildProcess> {
    const name = `${service}-${role}`
    await enrollDevice(this.admin, this.#ziti, { name, role: name, files: this.file(name) })
    const identity = ['--identity', this.file(`${name}.json`)]
    const place =
      role === 'host' ? ['tunnel', 'host', ...identity] : ['tunnel', 'proxy', ...identity, `${service}:${port}`]
    const args = [...place, ...more]
    return this.processes.start(this.file(`${name}.log`), args)
  }

  async untilOnline(id: string): Promise<void> {
    await until(async () => (await this.admin.call('GET', `/edge-routers/${id}`)).isOnline, true, 30_000)
  }

  /** The links that the controller knows, by the names of the routers that dial and listen. */
  async links(): Promise<readonly string[]> {
    const links = Object.values(await this.admin.call('GET', '/fabric/v1/links?limit=500')) as {
      readonly sourceRouter: { readonly name: string }
      readonly destRouter: { readonly name: string }
    }[]
    return links.map(({ sourceRouter, destRouter }) => `${sourceRouter.name}->${destRouter.name}`).sort()
  }

  /** Follows the next dial of a service, which begins meanwhile; answers how it went. */
  async followed(service: string, proxyPort: number): Promise<Readonly<Record<string, unknown>>> {
    const question = { identity: `${service}-client`, service, withinSeconds: 60 }
    const traced = this.admin.call('POST', '/portcullis/v1/trace-dial', question)
    await sleep(500)
    // A connection of its own, which takes a circuit of its own.
    get({ host: '127.0.0.1', port: proxyPort, path: '/small', agent: false }, (answer) => answer.resume())
      .on('error', () => undefined)
      .setTimeout(30_000)
    return traced
  }

  /** Makes every link of a router cost more. */
  async costOf(router: string, staticCost: number): Promise<void> {
    const links = Object.entries(await this.admin.call('GET', '/fabric/v1/links?limit=500'))
    for (const [, link] of links) {
      const { id, sourceRouter, destRouter } = Object(link)
      const isOf = sourceRouter.name === router || destRouter.name === router
      if (isOf) await this.admin.call('PATCH', `/fabric/v1/links/${id}`, { staticCost })
    }
  }

  /** The ways of the circuits that are open, by the names of their routers. */
  async ways(): Promise<readonly string[]> {
    const circuits = Object.values(await this.admin.call('GET', '/fabric/v1/circuits?limit=500')) as {
      readonly path: { readonly nodes: readonly { readonly name: string }[] }
    }[]
    return circuits.map(({ path }) => path.nodes.map(({ name }) => name).join('-'))
  }

  /** Tells the agent of a deployed router to do something. */
  async agent(command: 'quiesce' | 'dequiesce', { name, program, process }: DeployedRouter): Promise<void> {
    await runZiti(program, this.file(`${name}.agent.log`), ['agent', 'router', command, '-p', String(process.pid)])
  }

  async logOf(name: string): Promise<string> {
    return readFile(this.file(`${name}.log`), 'utf8').catch(() => '')
  }

  async close(): Promise<void> {
    for (const router of this.#own) await router.close()
    await this.#close()
  }
}

/** Waits until a question has an answer; answers how long that took, ms. */
export async function until(ask: () => Promise<unknown>, wanted: unknown, patienceMs = 30_000): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const answer = await ask().catch(String)
    if (JSON.stringify(answer) === JSON.stringify(wanted)) return performance.now() - begun
    if (performance.now() - begun > patienceMs) throw new Error(`after ${patienceMs} ms: ${JSON.stringify(answer)}`)
    await sleep(100)
  }
}

/** A server that sends random bytes and answers the digest of what is sent to it. */
export async function serveDigests(
  bytes: number,
): Promise<{ readonly port: number; readonly digest: string; close(): void }> {
  const data = randomBytes(bytes)
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.end(request.url === '/small' ? 'small' : data)
      return
    }
    const hash = createHash('sha256')
    request.on('data', (piece) => hash.update(piece)).once('end', () => response.end(hash.digest('hex')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    digest: createHash('sha256').update(data).digest('hex'),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Fetches the bytes through a port; answers their digest. */
export async function digestThrough(port: number, timeoutMs = 60_000): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(timeoutMs) })
  return createHash('sha256')
    .update(Buffer.from(await response.arrayBuffer()))
    .digest('hex')
}

/** Sends random bytes through a port; answers whether their digest came back. */
export async function sendThrough(port: number, bytes: number, timeoutMs = 60_000): Promise<boolean> {
  const body = randomBytes(bytes)
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(timeoutMs),
  })
  return (await response.text()) === createHash('sha256').update(body).digest('hex')
}

/** Asks for a small answer until it comes. */
export async function untilServed(port: number, patienceMs = 40_000): Promise<number> {
  return until(
    async () => (await fetch(`http://127.0.0.1:${port}/small`, { signal: AbortSignal.timeout(5000) })).text(),
    'small',
    patienceMs,
  )
}
