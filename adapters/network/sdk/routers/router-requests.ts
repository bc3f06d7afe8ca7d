import type { ConnectionFailure } from '../connection-failure.ts'
import type { DirectOffer } from '../proved/direct-identity.ts'
import type { Caller, ServiceConnection } from '../service-connection.ts'
import type { KeyPair } from '../streams/secret-streams.ts'

/** How a service is dialed through one router. */
export interface RouterDial {
  readonly service: string
  /** The token of the session that lets dial it. */
  readonly sessionToken: string
  readonly isEncrypted: boolean
  /** The name that the caller gives itself. */
  readonly callerName: string
  readonly applicationData?: Uint8Array
  /** The one host that is meant, where hosts have names. */
  readonly instance?: string
  readonly timeoutMs: number
  /** How the two ends prove themselves to each other; undefined where they need not. */
  readonly direct?: DirectOffer | undefined
}

/** How a service is hosted at one router. */
export interface RouterBind {
  readonly service: string
  /** As of {@link RouterDial}. */
  readonly direct?: DirectOffer | undefined
  readonly sessionToken: string
  /** The key that callers agree on secrets with; undefined for a service that is not encrypted. */
  readonly keys: KeyPair | undefined
  readonly instance?: string
  readonly cost?: number
  readonly precedence?: 'default' | 'required' | 'failed'
  /** The same after a channel is lost, so that the router takes the new one in place of the old. */
  readonly listenerId: string
  readonly timeoutMs: number
  /** Whether to take a connection; the text says why not. */
  judge(caller: Caller, applicationData: Uint8Array): Promise<string | undefined> | string | undefined
  /** Whether a further connection may be taken: asked again once a caller was judged, as others were let in meanwhile. */
  hasRoom(): boolean
  /** `proving` answers the connection to be used, once its dialer has proved itself. */
  accept(connection: ServiceConnection, proving?: Promise<ServiceConnection>): void
  /** The router no longer hosts it. */
  onEnd(failure: ConnectionFailure): void
}

/** A service that is hosted at a router. */
export interface RouterBinding {
  /** New callers are refused; open connections go on. */
  close(): void
}
