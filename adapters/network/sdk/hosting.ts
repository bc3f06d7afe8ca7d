import { callIsolated } from '../../../src/concurrency/call-isolated.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { pauseAfter, routersToTry } from '../../../src/data-plane.ts'
import type { Timer } from '../channel/conversation.ts'
import { ConnectionFailure, failureOf } from './connection-failure.ts'
import { loadEndToEnd } from './end-to-end.ts'
import type { DirectOffer } from './proved/direct-identity.ts'
import type { RouterPool } from './routers/router-pool.ts'
import type { RouterBinding } from './routers/router-requests.ts'
import type { ServiceAccess, UsableService } from './service-access.ts'
import type { Caller, ServiceConnection } from './service-connection.ts'
import type { KeyPair } from './streams/secret-streams.ts'

/** How a service is hosted. */
export interface HostOptions {
  /** The name of this host, of a service whose hosts are dialed by name. */
  readonly instance?: string
  /** Cost of this host, 0 to 65535: callers get the cheaper one. */
  readonly cost?: number
  /** `required` before all others, `failed` after all others. */
  readonly precedence?: 'default' | 'required' | 'failed'
  /** The number of routers at which it is hosted, so that one may fail; default 3. */
  readonly routers?: number
  /** Connections that are open at once; one more is refused. Default 10 000. */
  readonly maxConnections?: number
  /**
   * Decides within 4.5 s whether a caller that policies allow is admitted. `true` admits the caller; any other answer or an error refuses
   * it, and the caller gets the text.
   */
  accept?(caller: Caller, applicationData: Uint8Array): boolean | string | Promise<boolean | string>
  /**
   * Whether each caller must prove its identity by its certificate, so that no router has to be believed: `request.caller.isProved`. Others
   * are refused, which have no `proved` or `directE2EE`, and callers over routers that do not carry it. The controller needs `directE2EE`.
   * Default: as `directE2EE` of `openIdentity` says.
   *
   * @example
   * const server = await openIdentity('server.json')
   * await server.host('payroll', (request, response) => response.end(request.caller?.id), { proved: true })
   */
  readonly proved?: boolean
  /** Called with the failure when no router hosts the service any more, and with undefined when it is hosted again. */
  onChange?(failure: ConnectionFailure | undefined): void
}

/** A service that is hosted, at several routers where there are several, until it is closed. */
export interface HostedService extends AsyncDisposable {
  readonly service: string
  /** The addresses of the routers that bring callers now. */
  readonly routers: readonly string[]
  /** Connections that are open. */
  readonly connections: number
  /** Refuses new callers, and ends open connections after `graceMs`; default 0. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** The parts of an identity that hosting needs. */
export interface Host {
  readonly access: ServiceAccess
  readonly routers: RouterPool
  readonly timer: Timer
  /** How dialers and this host prove themselves to each other. Rejects with `NOT_PROVED` where they must, and cannot. */
  directOffer(serviceId: string, isRequired: boolean | undefined): Promise<DirectOffer | undefined>
  forgetSession(): void
}

/** Milliseconds within which a router must answer a bind; otherwise the bind has failed, and the next router is tried. */
const BIND_MS = 10_000
/** Routers at which a service is hosted, unless its host wants another number: two of them may fail, and callers still come. */
const ROUTERS = 3
/** Connections of a service that are open at once, unless its host wants another number; one more is refused. */
const MOST_CONNECTIONS = 10_000
/** Milliseconds between two looks for routers, while there are fewer than wanted: routers that come are used this late. */
const LOOK_AGAIN_MS = 30_000

/** Hosts a service. Rejects with a {@link ConnectionFailure} when it is hosted nowhere; afterwards it goes on by itself. */
export async function hostService(
  host: Host,
  name: string,
  take: (connection: ServiceConnection) => void,
  options: HostOptions,
): Promise<HostedService> {
  const hosting = new Hosting(host, name, take, options)
  await hosting.begin()
  return hosting
}

class Hosting implements HostedService {
  readonly service: string
  readonly #host: Host
  readonly #take: (connection: ServiceConnection) => void
  readonly #options: HostOptions
  readonly #listenerId = runtime.uuid()
  readonly #bindings = new Map<string, RouterBinding>()
  readonly #open = new Set<ServiceConnection>()
  #keys: KeyPair | undefined
  #direct: DirectOffer | undefined
  #failures = 0
  #cancelNext: () => void = () => undefined
  #isWorking = false
  #isClosed = false
  /** No router brings callers, and one did before. */
  #isInterrupted = false
  #lastFailure: ConnectionFailure | undefined

  constructor(host: Host, name: string, take: (connection: ServiceConnection) => void, options: HostOptions) {
    this.#host = host
    this.service = name
    this.#take = take
    this.#options = options
  }

  get routers(): readonly string[] {
    return [...this.#bindings.keys()]
  }

  get connections(): number {
    return this.#open.size
  }

  async begin(): Promise<void> {
    await this.#bindWhereMissing()
    // A session, or a way to a router, that is known may be gone: the second try begins with new ones.
    if (this.#bindings.size === 0 && isOfRouter(this.#lastFailure)) await this.#bindWhereMissing()
    if (this.#bindings.size > 0) return
    await this.close()
    throw this.#lastFailure ?? new ConnectionFailure('NO_ROUTER', `${this.service}: no router is online`)
  }

  async close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#isClosed = true
    this.#cancelNext()
    for (const binding of this.#bindings.values()) binding.close()
    this.#bindings.clear()
    if (graceMs > 0 && this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#host.timer(graceMs, resolve)
        for (const connection of this.#open) {
          connection.once('close', () => {
            if (this.#open.size > 0) return
            cancel()
            resolve()
          })
        }
      })
    }
    for (const connection of this.#open) connection.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #bindWhereMissing(): Promise<void> {
    if (this.#isWorking || this.#isClosed) return
    this.#isWorking = true
    try {
      await this.#bindAtRouters()
    } catch (error) {
      this.#lastFailure = failureOf(error, this.service)
      this.#host.access.forget(this.service)
      if (this.#lastFailure.code === 'ROUTER_UNREACHABLE') this.#host.forgetSession()
    } finally {
      this.#isWorking = false
    }
    if (this.#isClosed) return
    this.#failures = this.#bindings.size > 0 ? 0 : this.#failures + 1
    if (this.#isInterrupted && this.#bindings.size > 0) {
      this.#isInterrupted = false
      this.#tell(undefined)
    }
    this.#lookAgain(this.#failures === 0 ? LOOK_AGAIN_MS : pauseAfter(this.#failures, runtime.fraction()))
  }

  #lookAgain(afterMs: number): void {
    this.#cancelNext()
    this.#cancelNext = this.#host.timer(afterMs, () => {
      const { routers = ROUTERS } = this.#options
      if (this.#bindings.size >= routers) this.#lookAgain(LOOK_AGAIN_MS)
      else {
        this.#host.access.forget(this.service)
        this.#bindWhereMissing().catch(() => undefined)
      }
    })
  }

  async #bindAtRouters(): Promise<void> {
    const { access, routers } = this.#host
    const service = await access.find(this.service)
    if (!service.mayBind)
      throw new ConnectionFailure('ACCESS_DENIED', `${this.service}: this identity may dial it, not host it`)
    const session = await access.session(service, 'Bind')
    this.#direct = await this.#host.directOffer(service.id, this.#options.proved)
    if (service.isEncrypted && this.#direct?.isRequired !== true) this.#keys ??= (await loadEndToEnd()).createKeyPair()
    const offers = routersToTry(session.routers, (address) => routers.isConnected(address))
    const wanted = this.#options.routers ?? ROUTERS
    let failure: unknown
    for (const { address } of offers) {
      if (this.#bindings.size >= wanted || this.#isClosed) break
      if (this.#bindings.has(address)) continue
      await this.#bindAt(address, service, session.token).catch((error: unknown) => {
        failure = error
      })
    }
    if (this.#bindings.size > 0) return
    throw failure ?? new ConnectionFailure('NO_ROUTER', `${this.service}: no router that may be used has an address`)
  }

  async #bindAt(address: string, service: UsableService, sessionToken: string): Promise<void> {
    const channel = await this.#host.routers.channelTo(address)
    const { instance, cost, precedence } = this.#options
    let end: ConnectionFailure | undefined
    const binding = await channel.bind({
      ...{ service: service.name, sessionToken, direct: this.#direct },
      keys: service.isEncrypted ? this.#keys : undefined,
      ...{ listenerId: this.#listenerId, timeoutMs: BIND_MS },
      ...(instance !== undefined && { instance }),
      ...(cost !== undefined && { cost }),
      ...(precedence !== undefined && { precedence }),
      judge: (caller, applicationData) => this.#judge(caller, applicationData),
      hasRoom: () => this.#hasRoom(),
      accept: (connection, proving) => this.#accept(connection, proving),
      onEnd: (failure) => {
        end = failure
        this.#ended(address, failure)
      },
    })
    // A binding may end before it is known here.
    if (end !== undefined) throw end
    if (this.#isClosed) binding.close()
    else this.#bindings.set(address, binding)
  }

  async #judge(caller: Caller, applicationData: Uint8Array): Promise<string | undefined> {
    const { accept } = this.#options
    if (!this.#hasRoom()) return 'too many connections'
    if (accept === undefined) return undefined
    const answer = await accept(caller, applicationData)
    return answer === true ? undefined : answer === false ? 'the host does not let this caller in' : answer
  }

  #hasRoom(): boolean {
    return this.#open.size < (this.#options.maxConnections ?? MOST_CONNECTIONS)
  }

  #accept(carrier: ServiceConnection, proving: Promise<ServiceConnection> | undefined): void {
    this.#count(carrier)
    if (proving === undefined) {
      this.#hand(carrier)
      return
    }
    proving.then(
      (connection) => {
        connection.on('error', () => undefined)
        this.#open.delete(carrier)
        this.#count(connection)
        if (this.#isClosed) connection.destroy()
        else this.#hand(connection)
      },
      // The carrier has ended, and the dialer knows why.
      () => undefined,
    )
  }

  #count(connection: ServiceConnection): void {
    this.#open.add(connection)
    connection.once('close', () => this.#open.delete(connection))
  }

  #hand(connection: ServiceConnection): void {
    try {
      this.#take(connection)
    } catch (error) {
      connection.destroy(failureOf(error, this.service))
    }
  }

  /** A mistake of the program is its own: other services on the same channel hear of its end as well. */
  #tell(failure: ConnectionFailure | undefined): void {
    callIsolated(
      () => this.#options.onChange?.(failure),
      (error) => process.emitWarning(`onChange of ${this.service} failed: ${String(error)}`),
    )
  }

  /** A router is gone, or hosts it no more. */
  #ended(address: string, failure: ConnectionFailure): void {
    if (!this.#bindings.delete(address) || this.#isClosed) return
    if (this.#bindings.size === 0) {
      this.#isInterrupted = true
      this.#tell(failure)
    }
    this.#host.access.forget(this.service)
    this.#lookAgain(pauseAfter(1, runtime.fraction()))
  }
}

function isOfRouter(failure: ConnectionFailure | undefined): boolean {
  return failure?.code === 'ROUTER_UNREACHABLE' || failure?.code === 'CONNECTION_LOST'
}
