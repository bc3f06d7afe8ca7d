import { checkOptions, type OptionRules } from '../../../src/base/arguments.ts'
import type { ApiClient, ClientApi, ManagementApi } from '../../../src/client/index.ts'
import type {
  ConnectionInfo,
  Controller,
  ControllerFetch,
  ControllerOptions,
  ControlPlane,
  Storage,
} from '../../../src/index.ts'
import type { ModelInput } from '../../../src/model/index.ts'
import type { EndpointFacts } from '../../../src/policy.ts'
import type { FabricController } from '../../network/fabric/index.ts'
import type { RunningRouter } from '../../network/router/index.ts'
import type { AssumedCircumstances, Reach } from './access-expectations.ts'
import type { AuthenticatorApp } from './authenticator-app.ts'
import type { Endpoints } from './endpoints.ts'
import type { FakeClock } from './fake-clock.ts'
import { ConnectionDropped, type Faults } from './faults.ts'
import type { TestNetwork } from './network/test-network.ts'
import type { RecordedRequest } from './request-record.ts'
import type { TestEvents } from './waiting-events.ts'

/** Choices of a test; everything else is as `createTestController` says. */
export interface TestControllerOptions extends Partial<Omit<ControllerOptions, 'clock' | 'scheduler'>> {
  /** Where the clock starts: epoch milliseconds. Default: the first instant of 2026, or the present for a live clock. */
  readonly now?: number
  /** Whether the clock stands still until the test turns it, or goes by itself and can be turned. Default: `turned`. */
  readonly clock?: 'turned' | 'live'
  /** Ids and one-time tokens follow from it, the same in every run; keys and certificates do not. Default: 1. */
  readonly seed?: number
  /**
   * Runs an edge router in memory, which every identity and service may use: endpoints dial and host without a socket, under the
   * test's clock. Default: false, and `dial` opens a session alone.
   */
  readonly router?: boolean
  /**
   * How many controllers run over the one storage: `controller`, `controller-2` and so on. The test acts by the first
   * running controller, and {@link TestController.kill} ends any of them. Default: 1.
   */
  readonly controllers?: number
}

/** A controller in memory with a clock that the test turns. */
export interface TestController extends Omit<Controller, 'as' | 'events'>, Endpoints {
  /** An endpoint, for an identity by name or id; for a call or a caller the engine with its rights, as of every controller. */
  readonly as: Endpoints['as'] & Controller['as']
  /** The storage that it was made over, for a test that looks at, or damages, records. */
  readonly storage: Storage
  readonly events: TestEvents
  /** Stands still until the test moves it; {@link TestController.elapse} also runs the work that is due. */
  readonly clock: FakeClock
  /**
   * Lets `milliseconds` pass: all scheduled work of the controller in that time is done when this resolves. Requests and dials under way go
   * on before and after, as far as they can without time passing. Rejects with `TypeError` for an invalid or negative span.
   */
  elapse(milliseconds: number): Promise<void>
  /** The management API as the admin, who logs in with the first request, and again when the session has ended. */
  readonly admin: ApiClient<ManagementApi>
  /**
   * Applies a model of a network as `apply` does. If the network has no edge router then, a router that serves everybody is added, so that
   * sessions can be opened. The option `model` does the same.
   */
  seed(model: ModelInput): Promise<void>
  /** The management API without a login and without a network. */
  readonly management: ApiClient<ManagementApi>
  /** The client API without a login and without a network; `connection` plays the TLS client. */
  client(connection?: ConnectionInfo): ApiClient<ClientApi>
  /** The management API in one API session of the admin, which ends like any session. */
  asAdmin(): Promise<ApiClient<ManagementApi>>
  /** Reports facts of the endpoint of an identity, by name or id. */
  posture(identity: string): { report(facts: EndpointFacts): Promise<void> }
  /**
   * Enrolls an identity, by name or id, in MFA; its API session has passed it then. An identity that was enrolled so, in this controller or
   * in the controller of its fork, keeps its app.
   */
  totp(identity: string): Promise<AuthenticatorApp>
  /**
   * The names of all services that an identity, by name or id, may dial and bind, sorted: for `toEqual` and for snapshots. Rejects when
   * there is no such identity.
   *
   * @example
   * expect(await net.reach('laptop')).toEqual({ dial: ['wiki'], bind: [] })
   */
  reach(identity: string, circumstances?: AssumedCircumstances): Promise<Reach>
  /** Faults of requests, from within the test and from outside. */
  readonly faults: Faults
  /** The connections of endpoints and of the router, and their faults. */
  readonly network: TestNetwork
  /**
   * The requests to the controller in their order, including requests of the test itself; the latest 10,000.
   *
   * @example
   * expect(net.requests.filter(({ route }) => route === 'POST /sessions')).toMatchObject([{ status: 503 }, { status: 201 }])
   */
  readonly requests: readonly RecordedRequest[]
  /**
   * Keeps the network as it is now, to begin other controllers with as often as a test likes. Throws unless the controller is
   * over a memory storage.
   */
  snapshot(): TestSnapshot
  /** Another controller with the network, the certificates and the time of this one. Later changes of either do not reach the other. */
  fork(): Promise<TestController>
  /**
   * Serves the controller over HTTPS, for clients in any language; from now on tokens name the address that was bound. Clients
   * with clocks of their own want the option `clock: 'live'`. {@link Controller.close} ends it as well.
   */
  listen(options?: ListenOptions): Promise<ListeningController>
  /**
   * Ends a controller as a crash does: all that it had in memory is gone, its connections end, its transactions are undone, and requests
   * without an answer reject. Endpoints, the router and the test go on by the next controller. Throws for a controller that does not run,
   * and while a server of {@link TestController.listen} takes routers.
   *
   * @example
   * const net = await createTestController({ router: true, controllers: 2 })
   * net.kill('controller')
   * await net.elapse(2000) // the router connects to controller-2
   */
  kill(controller: string): void
  /**
   * Starts a killed controller again, over the same storage. Rejects for a controller that runs.
   *
   * @example
   * net.kill('controller')
   * await net.restart('controller')
   */
  restart(controller: string): Promise<void>
}

/** A network at an instant. */
export interface TestSnapshot {
  /** A controller that begins there; devices that had enrolled may log in. */
  fork(): Promise<TestController>
}

/** Where a test controller is served. */
export interface ListenOptions {
  /** The address to bind. Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: 0, the system chooses. */
  readonly port?: number
  /** Serves routers as well, on the same port. Default: false. */
  readonly fabric?: boolean
  /**
   * Lets SDKs dial and host by an edge router on the same port, with `fabric`: by the router in memory if there is one (then the default is
   * true), else by a router that runs as long as this server. Default: false.
   */
  readonly router?: boolean
}

const LISTEN_OPTIONS: OptionRules<ListenOptions> = {
  host: 'string',
  port: 'number',
  fabric: 'boolean',
  router: 'boolean',
}

/** A test controller on a socket, for clients in any language. */
export interface ListeningController {
  /** `https://host:port` */
  readonly url: string
  readonly port: number
  /** `host:port`, which stands in tokens from now on. */
  readonly address: string
  /** The trust bundle by which clients know it, PEM. */
  readonly ca: string
  /** Stops it; the controller goes on. */
  close(): Promise<void>
}

type Served = Pick<Controller, 'answerHeaders' | 'caPem' | 'changeAddress' | 'openFabric' | 'tls'> & {
  readonly fetch: ControllerFetch
}

/** A router in memory, and the data plane that it belongs to. */
export interface RunningPlane {
  readonly router: RunningRouter
  readonly plane: ControlPlane
}

/**
 * Serves a controller over HTTPS, as `serve` of `portcullis/node` does; a router that is `running` takes endpoints there, and its data
 * plane other routers.
 */
export async function listenWith(
  controller: Served,
  options: ListenOptions,
  running?: RunningPlane,
): Promise<ListeningController> {
  checkOptions('listen', options, LISTEN_OPTIONS)
  // Loaded here because most tests need no socket.
  const { RequestAborted, serve } = await import('../../web/node/index.ts')
  const fetch: ControllerFetch = async (request, connection) => {
    try {
      return await controller.fetch(request, connection)
    } catch (error) {
      throw error instanceof ConnectionDropped ? new RequestAborted() : error
    }
  }
  const { host = '127.0.0.1', port = 0, fabric = false, router = running !== undefined } = options
  const { answerHeaders } = controller
  const openFabric: FabricController['openFabric'] = async (asked) => {
    if (running === undefined) return controller.openFabric(asked)
    running.plane.moveTo(asked.addresses)
    return running.plane
  }
  const source = { fetch, answerHeaders, openFabric, tls: () => controller.tls() }
  const where =
    router && running ? { fabric, router: { running: running.router } } : { fabric: fabric || router, router }
  const server = await serve(source, { host, port, ...where })
  const { host: address } = new URL(server.url)
  controller.changeAddress(address)
  return {
    url: server.url,
    port: server.port,
    address,
    ca: controller.caPem,
    close: () => server.close({ graceMs: 0 }),
  }
}
