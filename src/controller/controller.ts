import type { Call, Caller } from '../context/call.ts'
import type { CallEngine, HostEngine } from '../engine/host-engine.ts'
import type {
  IdentityInvitationOptions,
  Invitation,
  RouterInvitation,
  RouterInvitationOptions,
} from '../enrollment/invite.ts'
import type { DeployedEvent } from '../fabric/operators/deployed-events.ts'
import type { ControlPlane, ControlPlaneOptions } from '../facts/fabric/messages/index.ts'
import type { Events } from '../facts/network/events.ts'
import type { ControllerFetch } from '../http/exchange.ts'
import type { AppliedModel, ModelInput } from '../model/index.ts'
import type { ServerCertificateSource } from '../platform/pki-material.ts'
import type { HostedPresence } from '../ports/router-presence.ts'
import type { EventHandler, SubscriptionOptions } from '../webhooks/event-deliveries.ts'
import type { ControllerOptions } from './controller-options.ts'

/** The events of a controller, for its host. */
export interface HostEvents extends Pick<Events, 'on'> {
  /**
   * Sends events of the audit trail to a handler: at least once, in order for one entity, from the store, so that no event is lost when a
   * process dies between a commit and its delivery. A new subscriber begins with the events from now on; a subscriber of the same name
   * goes on where it stopped. Of several processes over one store, one delivers at a time. A handler that rejects, or takes longer than
   * 15 s, gets the event again, after longer and longer pauses, for about three days. Answers the function that ends it in this process.
   *
   * @throws {ControllerError} INVALID_FILTER when the filter cannot be read.
   * @throws {TypeError} when this process has a subscriber of that name already.
   *
   * @example
   * const stop = await controller.events.subscribe(
   *   'ticketing',
   *   async ({ id, type, data }) => {
   *     await fetch('https://tickets.example/', { method: 'POST', body: JSON.stringify({ id, type, name: data.entity?.name }) })
   *   },
   *   { events: ['entity.*'] },
   * )
   */
  subscribe(name: string, handler: EventHandler, options?: SubscriptionOptions): Promise<() => void>
  /**
   * Sends events in the JSON form of deployed controllers, as they happen: of the named kinds (`circuit`, `link`, `entityChange` …), or
   * of all. Answers the function that ends it.
   *
   * @throws {TypeError} for an unknown kind.
   *
   * @example
   * const stop = controller.events.deployed((event) => console.log(JSON.stringify(event)), ['circuit', 'router'])
   */
  deployed(listener: (event: DeployedEvent) => void, kinds?: readonly string[]): () => void
}

/** A zero-trust network controller, ready to be mounted; `await using` closes it at the end of a block. */
export interface Controller extends AsyncDisposable {
  /** Answers requests of all APIs; mount it in any framework. */
  readonly fetch: ControllerFetch
  /**
   * Reports whether the path of a request is the controller's, for a framework that answers unknown paths itself. Its own are all paths
   * below `/edge`, `/fabric`, `/portcullis` and, where the OpenID provider is on, `/oidc`; the probes where they are on; and at the root
   * the operations of the client API that need no session, such as `/version`, `/enroll` and `/.well-known/est/cacerts`. `/` is the
   * application's. Method, query and empty segments do not matter. Below a prefix, pass the URL without it.
   *
   * @example
   * const app = express()
   * const handler = expressHandler(controller)
   * app.use((request, response, next) => (controller.owns(request) ? handler(request, response, next) : next()))
   */
  owns(request: { readonly url?: string | undefined }): boolean
  /** The headers of every answer; an adapter sends them with a refusal that the controller never sees. */
  readonly answerHeaders: Readonly<Record<string, string>>
  /** The operations of the APIs, for a host that calls them directly. */
  readonly engine: HostEngine
  /**
   * The engine with the rights of a caller or a call, and no others. A caller has logged in, or the host began its session. A method
   * rejects with `UNAUTHORIZED` where the APIs would refuse the same operation. The caller is judged again with every method.
   *
   * @example
   * const caller = await controller.engine.host.resolve(token)
   * if (caller !== undefined) await controller.as(caller).services.create({ name: 'web' })
   */
  as(who: Call | Caller): CallEngine
  /**
   * Makes an identity with a name unless it exists, and answers its one-time token for enrollment: the current token
   * while it is valid, or a new one. Rejects with `ENROLLMENT_IDENTITY_ALREADY_ENROLLED` when it has enrolled, and as
   * the API does for values that cannot be stored.
   *
   * @example
   * const { jwt } = await controller.invite('laptop', { roleAttributes: ['staff'] })
   * await writeFile('laptop.jwt', jwt, { mode: 0o600 })
   */
  invite(name: string, options?: IdentityInvitationOptions): Promise<Invitation>
  /**
   * The same for an edge router, with the configuration that deployed routers read.
   *
   * @example
   * const { jwt, config } = await controller.inviteRouter('r1', { advertise: 'r1.example.org:3022' })
   */
  inviteRouter(name: string, options?: RouterInvitationOptions): Promise<RouterInvitation>
  /**
   * Applies a model of a network: plans it, tries its assertions, and makes all changes in one commit, with the rights of the system.
   * Entities that the model lacks stay unless `prune` is true. A network that is as the model has it is not written to. Rejects with
   * `ModelError` or `ChangeRefused` for a model that cannot be applied, and with `AssertionsFailed` where an assertion would fail; nothing is
   * changed then.
   *
   * @example
   * const { changes } = await controller.apply('network.yaml')
   */
  apply(model: ModelInput, options?: Pick<ControllerOptions, 'prune'>): Promise<AppliedModel>
  /** The events of this controller, sent after their cause is committed. */
  readonly events: HostEvents
  /** A host that runs edge routers reports their connections here, and gets the routers that it must disconnect. */
  readonly presence: HostedPresence
  /** True when there is a default admin, from this start or an earlier one. */
  readonly hasAdmin: boolean
  /** True when an earlier default admin has other credentials than {@link ControllerOptions.admin}. */
  readonly hasOtherAdmin: boolean
  /**
   * The TLS server certificate chain and its key, PEM, for a server that terminates TLS itself. Throws when the key is
   * held elsewhere and has no PEM form: then the server that terminates TLS has to have it.
   */
  tls(): { readonly cert: string; readonly key: string }
  /**
   * Puts a renewed server certificate in use: tokens are signed with its key from now on, and tokens of the earlier key
   * stay valid. A server in front has to take it as well (`replaceCertificate`). Rejects, and changes nothing, when the
   * key does not belong to the certificate.
   */
  replaceServerCertificate(source: ServerCertificateSource): Promise<void>
  /**
   * Changes the `host:port` under which devices reach the controller, for a host that learns its port by binding it.
   * New tokens name it, and logins by OpenID Connect begin there unless `oidc.issuers` says otherwise; earlier tokens
   * keep their address. Throws, and changes nothing, for an invalid address.
   *
   * @example
   * const server = await serve(controller, { port: 0 })
   * controller.changeAddress(`controller.example.org:${server.port}`)
   */
  changeAddress(address: string): void
  /** The network's trust bundle, PEM, by which clients verify the server. */
  readonly caPem: string
  /**
   * Opens the data plane. A server for the protocol of routers calls it once, as `serve` of `portcullis/node` does with
   * `fabric`. From then on enrollment tokens of routers name its addresses. Rejects when it is open already.
   */
  openFabric(options: ControlPlaneOptions): Promise<ControlPlane>
  /**
   * Stops the controller's own work and closes the storage, even when a part fails, and rejects with that failure. From
   * then on requests are answered 503. A second call answers the same promise.
   */
  close(): Promise<void>
}
