import type { Agent } from 'node:http'
import type { ApiClient, ManagementApi } from '../../../src/client/index.ts'
import { channelPair } from '../../network/channel/index.ts'
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
import { ConnectionDropped } from './faults.ts'
import { settled } from './network/network-path.ts'
import { channelsOver } from './network/over-path.ts'
import type { TestPaths } from './network/test-network.ts'
import { type TestProcesses, withMembers } from './network/test-processes.ts'
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
  readonly processes: TestProcesses
  readonly origin: string
  readonly scheduler: FakeScheduler
  readonly paths: TestPaths
  /** Serves the controller, endpoints of a router that runs, and other routers by the data plane that it belongs to. */
  listen(where?: ListenOptions, running?: RunningPlane): Promise<ListeningController>
}

/** The address that lists show. No client connects to it: endpoints are in this process. */
const ADVERTISED = 'router.test:3022'
const EVERYBODY = 'everybody uses the router of the test'

/** Gives a test controller an edge router in memory, which every identity and service may use. */
export async function withRouter({
  net,
  processes,
  origin,
  scheduler,
  paths,
  listen,
}: RoutedParts): Promise<RoutedTestController> {
  // Loaded here because most tests carry nothing.
  const { openPlanes } = await import('./network/test-planes.ts')
  const { openOwnRouter } = await import('../../network/router/own-router.ts')
  const { inProcessIdentity } = await import('../../network/sdk/in-process-identity.ts')
  const { clock } = net
  const timer = (ms: number, work: () => void) => scheduler.at(clock.now() + ms, () => settled(work))
  const now = () => clock.now()
  const end = paths.join('router')
  const { lent, reached } = await openPlanes(processes, paths, end)
  const ports = { plane: reached, advertise: ADVERTISED, timer, now, monotonic: now }
  const router = await openOwnRouter({ name: 'router' }, ports)
  await letEverybodyUse(net.admin, router.id)

  const identities = new Map<TestEndpoint, Identity>()
  const connections = new Set<ServiceConnection>()
  const identityOf = (endpoint: TestEndpoint, name: string): Identity => {
    const known = identities.get(endpoint)
    if (known !== undefined) return known
    const own = paths.join(name)
    const path = paths.between(own, end)
    const startSession = async () => (await endpoint.call('GET /current-api-session')).data.token
    const identity = inProcessIdentity({
      origin,
      router,
      timer,
      now,
      startSession,
      fetch: processes.fetchFrom(own),
      channels: () => {
        if (path.isCut) throw new ConnectionDropped()
        return channelsOver(path, channelPair())
      },
    })
    identities.set(endpoint, identity)
    return identity
  }
  const routed = <Endpoint extends TestEndpoint>(endpoint: Endpoint, name: string) => {
    const { dial, host, fetch: fetchService, agent } = identityOf(endpoint, name)
    const dialed: RoutedEndpoint['dial'] = async (...asked) => {
      const connection = await dial(...asked)
      connections.add(connection)
      connection.once('close', () => connections.delete(connection))
      return connection
    }
    const routedEndpoint = { ...endpoint, dial: dialed, host, agent, fetch: fetchService }
    return Object.hasOwn(routedEndpoint, 'id') ? routedEndpoint : withId(routedEndpoint, () => endpoint.id)
  }
  const close = async () => {
    paths.heal()
    // A test that is over listens to no error of the connections that it left open.
    for (const connection of connections) connection.on('error', () => undefined)
    await Promise.all([...identities.values()].map((identity) => identity.close()))
    router.close()
    await net.close()
  }
  return withMembers(net, {
    router,
    listen: (where) => listen(where, { router, plane: lent }),
    as: (identity) => routed(net.as(identity), identity),
    enroll: async (identity, fields) => routed(await net.enroll(identity, fields), identity),
    close,
    [Symbol.asyncDispose]: close,
  } satisfies Partial<RoutedTestController>)
}

/** Lets every identity and every service use a router. */
export async function letEverybodyUse(admin: ApiClient<ManagementApi>, routerId: string): Promise<void> {
  const meet = { semantic: 'AnyOf' as const, edgeRouterRoles: [`@${routerId}`], name: EVERYBODY }
  await admin.call('POST /edge-router-policies', { body: { ...meet, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { ...meet, serviceRoles: ['#all'] } })
}
