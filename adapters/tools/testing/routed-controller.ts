import type { Agent } from 'node:http'
import type { ApiClient, ManagementApi } from '../../../src/client/index.ts'
import type { ControllerFetch, ControlPlane } from '../../../src/index.ts'
import type { RunningRouter } from '../../network/router/index.ts'
import type {
  DialOptions,
  HostedApp,
  HostedAppOptions,
  HostedService,
  HostOptions,
  Identity,
  ServiceConnection,
} from '../../network/sdk/index.ts'
import { type NewIdentity, type TestDevice, type TestEndpoint, withId } from './endpoints.ts'
import type { FakeScheduler } from './fake-clock.ts'
import type { ListeningController, ListenOptions, RunningPlane, TestController } from './test-controller.ts'

/** An endpoint of a test controller that has a router: it dials and hosts in memory, without a socket, under the test's clock. */
export interface RoutedEndpoint extends Omit<TestEndpoint, 'dial'> {
  /** Connects to a service. Rejects with a `ConnectionFailure` of `portcullis/sdk`, whose code says why not. */
  dial(service: string, options?: DialOptions): Promise<ServiceConnection>
  /** Hosts a service: a request listener, an app with `fetch`, or a function that takes connections. */
  host(service: string, app: HostedApp, options?: HostOptions & HostedAppOptions): Promise<HostedService>
  /** `fetch` whose hosts are services: `laptop.fetch('http://payroll/')`. */
  fetch: Identity['fetch']
  /** For `node:http` and frameworks built on it. */
  readonly agent: Agent
}

/** A device that enrolled, and dials and hosts. */
export type RoutedDevice = RoutedEndpoint & Omit<TestDevice, keyof TestEndpoint>

/** A test controller with an edge router in memory. */
export interface RoutedTestController extends Omit<TestController, 'as' | 'enroll'> {
  /** As {@link TestController.as}; the endpoint dials and hosts as well. */
  as(identity: string): RoutedEndpoint
  /** As {@link TestController.enroll}; the device dials and hosts as well. */
  enroll(identity: string, fields?: NewIdentity): Promise<RoutedDevice>
  /** The router: an edge router of the name `router`, which policies let be used, and by which a gateway of `portcullis/gateway` dials. */
  readonly router: Pick<RunningRouter, 'greet' | 'id' | 'name'>
}

/** The parts of a test controller that its router needs. */
export interface RoutedParts {
  readonly net: TestController
  readonly fetch: ControllerFetch
  readonly origin: string
  readonly scheduler: FakeScheduler
  /** Serves the controller, endpoints of a router that runs, and other routers by the data plane that it belongs to. */
  listen(where?: ListenOptions, running?: RunningPlane): Promise<ListeningController>
}

/** The address that lists show. No client connects to it: endpoints are in this process. */
const ADVERTISED = 'router.test:3022'
const CONTROL = 'tls:controller.test:6262'
const EVERYBODY = 'everybody uses the router of the test'

/** Gives a test controller an edge router in memory, which every identity and service may use. */
export async function withRouter({
  net,
  fetch,
  origin,
  scheduler,
  listen,
}: RoutedParts): Promise<RoutedTestController> {
  // Loaded here because most tests carry nothing.
  const { openControlListener } = await import('../../network/fabric/index.ts')
  const { openOwnRouter } = await import('../../network/router/own-router.ts')
  const { inProcessIdentity } = await import('../../network/sdk/in-process-identity.ts')
  const { clock } = net
  const timer = (ms: number, work: () => void) => scheduler.at(clock.now() + ms, async () => work())
  const now = () => clock.now()
  const { plane } = await openControlListener(net, { addresses: [CONTROL] })
  const router = await openOwnRouter({ name: 'router' }, { plane, advertise: ADVERTISED, timer, now, monotonic: now })
  await letEverybodyUse(net.admin, router.id)

  const identities = new Map<TestEndpoint, Identity>()
  const identityOf = (endpoint: TestEndpoint): Identity => {
    const known = identities.get(endpoint)
    if (known !== undefined) return known
    const startSession = async () => (await endpoint.call('GET /current-api-session')).data.token
    const identity = inProcessIdentity({
      origin,
      router,
      timer,
      now,
      startSession,
      fetch: async (request) => fetch(request),
    })
    identities.set(endpoint, identity)
    return identity
  }
  const routed = <Endpoint extends TestEndpoint>(endpoint: Endpoint) => {
    const { dial, host, fetch: fetchService, agent } = identityOf(endpoint)
    const routedEndpoint = { ...endpoint, dial, host, agent, fetch: fetchService }
    return Object.hasOwn(routedEndpoint, 'id') ? routedEndpoint : withId(routedEndpoint, () => endpoint.id)
  }
  const close = async () => {
    await Promise.all([...identities.values()].map((identity) => identity.close()))
    router.close()
    await net.close()
  }
  return {
    ...net,
    router,
    listen: (where) => listen(where, { router, plane: lent(plane) }),
    as: (identity) => routed(net.as(identity)),
    enroll: async (identity, fields) => routed(await net.enroll(identity, fields)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A data plane for a server that ends before it does. */
function lent(plane: ControlPlane): ControlPlane {
  return {
    controllerId: plane.controllerId,
    verify: (...socket) => plane.verify(...socket),
    admit: (...socket) => plane.admit(...socket),
    connect: (...greeting) => plane.connect(...greeting),
    proofs: plane.proofs,
    serveProcess: (channel) => plane.serveProcess(channel),
    ownRouter: (request) => plane.ownRouter(request),
    onKeysChanged: (listener) => plane.onKeysChanged(listener),
    startSession: (identity) => plane.startSession(identity),
    moveTo: (addresses) => plane.moveTo(addresses),
    close: async () => undefined,
  }
}

/** Lets every identity and every service use a router. */
export async function letEverybodyUse(admin: ApiClient<ManagementApi>, routerId: string): Promise<void> {
  const meet = { semantic: 'AnyOf' as const, edgeRouterRoles: [`@${routerId}`], name: EVERYBODY }
  await admin.call('POST /edge-router-policies', { body: { ...meet, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { ...meet, serviceRoles: ['#all'] } })
}
