import type { Agent } from 'node:http'
import type { ApiClient, ClientApi, PortcullisApi } from '../../../src/client/index.ts'
import type { EndpointFacts } from '../../../src/policy.ts'
import type { DialOptions } from './dialing.ts'
import type { HostedApp, HostedAppOptions } from './hosted-app.ts'
import type { HostedService, HostOptions } from './hosting.ts'
import type { SecondFactor } from './identity-client.ts'
import type { EnrolledDevice } from './identity-file.ts'
import type { UsableService } from './service-access.ts'
import type { FetchDispatcher, ServiceRequestInit } from './service-agent.ts'
import type { ServiceConnection } from './service-connection.ts'

/** The settings of an open identity. */
export interface IdentityOptions {
  /**
   * `bearer` for tokens of OpenID Connect, `api-session` for a session that the controller keeps. Default `auto`: as the controller asks,
   * which is `bearer` for a network with several controllers.
   */
  readonly sessions?: 'auto' | 'api-session' | 'bearer'
  /** Facts of this machine that are reported in each new session, for posture checks; a function is called each time. */
  readonly posture?: EndpointFacts | (() => EndpointFacts | Promise<EndpointFacts>)
  /** A code of the authenticator app, which is requested if a login needs a second factor. */
  secondFactor?(): Promise<string>
  /**
   * How the identity proves itself to the other ends of its connections by its certificate, and they to it (DirectE2EE, which OpenZiti has
   * not settled: `docs/sdk.md`): `offered` where both ends take part, `required` for each dial and each hosted service that does not say
   * otherwise. Default: only a dial or a host with `proved: true` takes part.
   *
   * @example
   * await using laptop = await openIdentity('laptop.json', { directE2EE: 'offered' })
   * const { provedPeer } = await laptop.dial('payroll')
   */
  readonly directE2EE?: 'offered' | 'required'
  /**
   * Keeps a renewed identity, the whole of it: in its file by `writeIdentity`, or anywhere that outlives the program; it resolves
   * when that is done. Key and certificate are renewed in the last third of the certificate's life, and when the controller asks for it,
   * while the identity is open. Without `keep` an identity is renewed in the same way if it was opened by the path of a file that this
   * program owns, can write, and that contains key and certificate: the renewal is written to the file. Any other identity is renewed only
   * by {@link Identity.renew}.
   */
  keep?(device: EnrolledDevice): void | Promise<void>
}

/** An identity of a network: it dials and hosts services, as policies allow. */
export interface Identity extends AsyncDisposable {
  /**
   * Connects to a service. Rejects with a `ConnectionFailure` whose code is the reason.
   *
   * @example
   * const laptop = await openIdentity('laptop.json')
   * const connection = await laptop.dial('payroll', { timeoutMs: 5000 })
   * connection.end('hello')
   */
  dial(service: string, options?: DialOptions): Promise<ServiceConnection>
  /**
   * Hosts a service: callers reach the app, and no port is open for them. Resolves when callers can reach the app; afterwards it recovers
   * by itself when routers or controllers are away for a while. Rejects with a `ConnectionFailure` whose code is the reason.
   *
   * @example
   * const server = await openIdentity('server.json')
   * const hosted = await server.host('wiki', (request, response) => response.end(`hello, ${request.caller?.name}`))
   */
  host(service: string, app: HostedApp, options?: HostOptions & HostedAppOptions): Promise<HostedService>
  /** The services that the identity may dial or bind now. */
  services(): Promise<readonly UsableService[]>
  /** `fetch` whose hosts are services: `identity.fetch('http://payroll/salaries')`. Redirects are answered, not followed. */
  fetch(input: string | URL | Request, init?: ServiceRequestInit): Promise<Response>
  /** For `node:http` and libraries that are built on it: `http.get({ agent: identity.agent, host: 'payroll', path: '/' })`. */
  readonly agent: Agent
  /** For the global `fetch`: `fetch('http://payroll/', { dispatcher: identity.dispatcher })`. */
  readonly dispatcher: FetchDispatcher
  /** Reports facts of this machine for posture checks. Sessions without a policy that still grants them have ended when it resolves. */
  report(facts: EndpointFacts): Promise<void>
  /** The second factor of the identity. */
  readonly mfa: SecondFactor
  /**
   * The client API as the identity, typed by its routes, in a session that begins and is renewed by itself. Calls reject with `ApiError`
   * when the controller refuses, and with a `ConnectionFailure` when no session can begin.
   */
  readonly client: ApiClient<ClientApi>
  /**
   * Portcullis's own API as the identity, in the same session. A deployed controller has none of it, and answers 404.
   *
   * @example
   * const laptop = await openIdentity('laptop.json')
   * const body = { service: 'prod-db', durationMs: 7_200_000, reason: 'INC-7' }
   * await laptop.portcullis.call('POST /access-requests', { body })
   */
  readonly portcullis: ApiClient<PortcullisApi>
  /**
   * Gives the identity a new key and certificate; connections go on. `keep` is called twice: with both pairs, the new pair as `pending`,
   * before its arrival is confirmed to the controller, and with the new pair alone once the former pair is void. If the program or the
   * controller ends in between, `openIdentity` finds the valid pair. A `keep` among the options of the identity is called before this
   * one. Rejects as `keep` does, and with a `ConnectionFailure` if the controller issues no certificate: `NOT_ALLOWED` for a certificate of
   * another authority.
   *
   * @example
   * const laptop = await openIdentity('laptop.json')
   * await laptop.renew((device) => writeIdentity('laptop.json', device))
   */
  renew(keep: (device: EnrolledDevice) => void | Promise<void>): Promise<void>
  /** Ends every connection, every hosted service and the session. */
  close(): Promise<void>
}
