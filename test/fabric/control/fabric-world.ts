import { randomBytes } from 'node:crypto'
import { type Duplex, duplexPair } from 'node:stream'
import { type Controller, type ControllerEvents, createPkiMaterial, type EventName } from 'portcullis'
import { type ControlListener, type ControlListenerOptions, openControlListener, routerSide } from 'portcullis/fabric'
import { memoryStorage } from 'portcullis/memory'
import {
  bodyOf,
  createTestController,
  type EnrolledRouter,
  enrollEdgeRouter,
  FakeRouter,
  type FakeRouterOptions,
  type TestController,
  type TestControllerOptions,
} from 'portcullis/testing'
import { withSharedPki } from '../../support/shared-pki.ts'

const { CONTENT_TYPE } = routerSide

/** A controller with an open data plane, and fake routers that may connect to it. */
export interface FabricWorld {
  readonly controller: TestController
  readonly listener: ControlListener
  /** Creates an entity of the management API; answers its id. */
  create(path: string, body: object): Promise<string>
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>
  /** Creates, enrolls and connects a router. */
  router(name: string, options?: FakeRouterOptions & { readonly fields?: object }): Promise<FakeRouter>
  enroll(name: string, fields?: object): Promise<EnrolledRouter>
  /** The events of a name so far. */
  told<E extends EventName>(name: E): readonly ControllerEvents[E][]
  /** Forgets events: a test that lasts keeps none of them. */
  forgetEvents(): void
}

const EVENTS = [
  'router.connection',
  'router.refused',
  'router.misbehaved',
  'router.alert',
  'link.connection',
  'circuit.opened',
  'circuit.moved',
  'circuit.closed',
  'circuit.failed',
  'circuit.usage',
] as const

export async function fabricWorld(
  options: Partial<ControlListenerOptions> = {},
  of: TestControllerOptions = {},
): Promise<FabricWorld> {
  const controller = await createTestController(await withSharedPki(of))
  const listener = await openControlListener(controller, { addresses: ['tls:controller.test:6262'], ...options })
  const told = new Map<EventName, unknown[]>(EVENTS.map((name) => [name, []]))
  for (const name of EVENTS) controller.events.on(name, (event) => void told.get(name)?.push(event))
  const token = await tokenOf(controller)
  const call = callerOf(controller, token)
  const enroll = async (name: string, fields: object = {}) =>
    enrollEdgeRouter(controller, token, { name, roleAttributes: ['all'], ...fields })
  return {
    controller,
    listener,
    call,
    enroll,
    create: async (path, body) => String((await call('POST', path, body)).id),
    router: async (name, { fields, ...behaviour } = {}) => {
      const router = new FakeRouter(await enroll(name, fields), listener, behaviour)
      await router.connect()
      return router
    },
    // The list under a name holds the events of that name.
    told: <E extends EventName>(name: E) => (told.get(name) ?? []) as ControllerEvents[E][],
    forgetEvents: () => {
      for (const events of told.values()) events.length = 0
    },
  }
}

const NOW = Date.UTC(2026, 0, 1)

/** Two controllers over one store, as two processes are: each has a clock of its own, and routers of its own. */
export async function twoProcesses() {
  const shared = memoryStorage()
  // The store outlives a process.
  const storage = { ...shared, close: async () => undefined }
  const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: NOW })
  const process = (name: string) => fabricWorld({ addresses: [`tls:${name}.test:1`] }, { storage, pki, now: NOW })
  return { here: await process('here'), there: await process('there') }
}

/** A process of several over one store, which reach each other. */
export interface JoinedProcess extends FabricWorld {
  /** Cuts every connection to the others; they connect anew. */
  cut(): void
  /** Cuts every connection to the others, and lets none open until the function that is answered is called. */
  part(): () => void
  /** Has what it sends to another process wait, until the function that is answered is called. */
  hold(to: string): () => void
  /** The same for what it tells another process of its own routers. */
  holdReports(to: string): () => void
  /** Sends bytes to another process over the connection that this one opened to it. */
  say(to: string, bytes: Uint8Array): void
}

/** Controllers over one store that are processes of one network: each uses the routers of the others. */
export async function joinedProcesses<Name extends string>(names: readonly Name[], of: TestControllerOptions = {}) {
  const shared = memoryStorage()
  const storage = { ...shared, close: async () => undefined }
  const pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'test', now: NOW })
  const worlds = new Map<string, FabricWorld>()
  const streams = new Map<string, Set<Duplex>>(names.map((name) => [name, new Set()]))
  const received = new Map<string, Duplex>()
  const dialed = new Map<string, Duplex>()
  const parted = new Set<string>()
  let now = NOW
  const open = async (name: Name): Promise<JoinedProcess> => {
    const dialProcess = async (address: string) => {
      const [, other = ''] = /^tls:(\w+)\.test:1$/.exec(address) ?? []
      if (parted.has(name) || parted.has(other)) throw new Error(`${other} is not reached`)
      const [stream, theirs] = duplexPair()
      stream.once('close', () => theirs.destroy())
      theirs.once('close', () => stream.destroy())
      for (const end of [name, other]) {
        streams.get(end)?.add(stream)
        // A stream that is over would hold the process that has ended.
        stream.once('close', () => streams.get(end)?.delete(stream))
      }
      const direction = `${name} to ${other}`
      received.set(direction, theirs)
      dialed.set(direction, stream)
      theirs.once('close', () => void (received.get(direction) === theirs && received.delete(direction)))
      stream.once('close', () => void (dialed.get(direction) === stream && dialed.delete(direction)))
      const binding = randomBytes(32)
      worlds.get(other)?.listener.acceptProcess({ stream: theirs, binding }, '127.0.0.1')
      return { stream, binding }
    }
    const world = await fabricWorld({ addresses: [`tls:${name}.test:1`], dialProcess }, { ...of, storage, pki, now })
    worlds.set(name, world)
    const cut = () => {
      for (const stream of streams.get(name) ?? []) stream.destroy()
    }
    const part = () => {
      parted.add(name)
      cut()
      return () => void parted.delete(name)
    }
    const paused = (stream: Duplex | undefined) => {
      stream?.pause()
      return () => void stream?.resume()
    }
    const hold = (to: string) => paused(received.get(`${name} to ${to}`))
    const holdReports = (to: string) => paused(dialed.get(`${to} to ${name}`))
    const say = (to: string, bytes: Uint8Array) => void dialed.get(`${name} to ${to}`)?.write(bytes)
    return { ...world, cut, part, hold, holdReports, say }
  }
  const opened = new Map<string, JoinedProcess>()
  for (const name of names) opened.set(name, await open(name))
  const processOf = (name: Name): JoinedProcess => {
    const found = opened.get(name)
    if (found === undefined) throw new Error(`there is no process ${name}`)
    return found
  }
  /** Lets time pass in all of them. */
  const elapse = async (ms: number) => {
    now += ms
    for (const { controller } of opened.values()) await controller.elapse(ms)
  }
  /** Ends one at once, with every connection, and begins it anew. */
  const restart = async (name: Name) => {
    const ended = processOf(name)
    ended.cut()
    await ended.listener.close()
    await ended.controller.close()
    opened.set(name, await open(name))
  }
  return { processOf, elapse, restart }
}

async function tokenOf({ fetch }: Pick<Controller, 'fetch'>): Promise<string> {
  const answer = await callerOf({ fetch }, '')('POST', '/authenticate?method=password', {
    username: 'admin',
    password: 'admin-password',
  })
  return String(answer.token)
}

function callerOf({ fetch }: Pick<Controller, 'fetch'>, token: string) {
  return async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const base = /^\/(?:fabric|portcullis)\//.test(path) ? '' : '/edge/management/v1'
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { 'zt-session': token }) }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`https://controller.test${base}${path}`, init))
    const answer = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    // Some answers have no envelope.
    return answer.data ?? answer
  }
}

/** Services, policies and the routers' own identities, so that routers may host and dial for themselves. */
export async function tunnelNetwork(world: Pick<FabricWorld, 'create'>, service: object = {}) {
  const serviceId = await world.create('/services', {
    name: 'web',
    encryptionRequired: false,
    roleAttributes: ['web'],
    ...service,
  })
  const all = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await world.create('/edge-router-policies', { name: 'all', identityRoles: ['#all'], ...all })
  const meeting = await world.create('/service-edge-router-policies', { name: 'all', serviceRoles: ['#all'], ...all })
  const policy = (type: string) => ({
    name: type,
    type,
    semantic: 'AnyOf',
    serviceRoles: ['#web'],
    identityRoles: ['#all'],
  })
  return {
    serviceId,
    meeting,
    dial: await world.create('/service-policies', policy('Dial')),
    bind: await world.create('/service-policies', policy('Bind')),
  }
}

/** A router hosts a service itself; answers the frame with which the controller answered. */
export function host(router: FakeRouter, serviceId: string, address = 'terminator-1') {
  const body = routerSide.CreateTunnelTerminator.encode({ serviceId, address, startTime: 7n })
  return router.request(CONTENT_TYPE.createTunnelTerminator, body)
}

/** A router dials a service; answers the circuit, or why there is none. */
export async function dial(router: FakeRouter, serviceName = 'web', peerData?: ReadonlyMap<number, Uint8Array>) {
  const body = routerSide.CreateTunnelCircuit.encode({ serviceName, ...(peerData === undefined ? {} : { peerData }) })
  const answer = await router.request(CONTENT_TYPE.createTunnelCircuit, body)
  if (answer.contentType === CONTENT_TYPE.error)
    return { ...routerSide.CircuitCreated.blank(), refused: new TextDecoder().decode(bodyOf(answer)) }
  return { refused: undefined, ...routerSide.CircuitCreated.decode(bodyOf(answer)) }
}

/** A router reports links that it dialed: id and target of each. */
export function reportLinks(
  router: FakeRouter,
  links: readonly (readonly [string, FakeRouter])[],
  fullRefresh = false,
): void {
  const reported = links.map(([id, target]) => ({
    id,
    destRouterId: target.id,
    linkProtocol: 'tls',
    dialAddress: 'tls:there:1',
    iteration: 1,
    connState: undefined,
  }))
  router.send(CONTENT_TYPE.routerLinks, routerSide.RouterLinks.encode({ links: reported, fullRefresh }))
}
