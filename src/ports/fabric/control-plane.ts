import type { ModelCodec } from './data-model.ts'
import type { FromRouter } from './from-router.ts'
import type { RouterGreeting } from './router-facts.ts'
import type { ToRouter } from './to-router.ts'

/**
 * The way to a connected router. What is sent is queued and arrives in order, also what was sent before it is closed; then
 * nothing happens any more.
 */
export interface RouterChannel {
  send(message: ToRouter): void
  close(): void
}

/** Why a router may not connect. */
export type ChannelRefusal =
  | 'no-certificate'
  | 'untrusted-certificate'
  | 'unknown'
  | 'disabled'
  | 'not-enrolled'
  | 'wrong-fingerprint'
  | 'already-connected'

/** Whether a socket may speak for a router. */
export type SocketAdmission =
  | { readonly admitted: true; readonly fingerprint: string }
  | { readonly admitted: false; readonly reason: ChannelRefusal }

/** What a router does that harms others if nobody looks. */
export type Misbehaviour =
  | 'flood'
  | 'slow-reader'
  | 'malformed'
  | 'foreign-terminator'
  | 'foreign-link'
  | 'foreign-circuit'

/** A router that is connected by one channel, of one socket or several. */
export interface RouterSession {
  /** Takes a message and answers what is to be replied, if anything. Rejects never for what a router sends. */
  receive(message: FromRouter): Promise<ToRouter | undefined>
  misbehaved(what: Misbehaviour): void
  /** The last socket is gone. */
  closed(): void
}

/** What speaks the wire of routers calls this, and knows nothing else of the controller. */
export interface ControlPlane {
  /** Stays the same over restarts: routers know controllers by it. */
  readonly controllerId: string
  /** Judges a socket by the certificates of its TLS handshake (DER, leaf first) for the router that it names. */
  admit(routerId: string, chain: readonly Uint8Array[], remoteAddress: string | undefined): Promise<SocketAdmission>
  /**
   * Begins the session of an admitted router. One that has been connected for long is closed in its favour; next to one that
   * connected a moment ago it is refused, so that two with one certificate do not put each other out all the time.
   */
  connect(
    greeting: RouterGreeting,
    fingerprint: string,
    channel: RouterChannel,
  ): Promise<RouterSession | ChannelRefusal>
  /** Closes every channel. */
  close(): Promise<void>
}

/** What the wire tells the control plane of itself. */
export interface ControlPlaneOptions {
  /** Where routers reach this process, for example `tls:host:6262`; the first one names the controller. */
  readonly addresses: readonly string[]
  /**
   * Where routers reach the other processes over the same store, one address for each; routers are told, and connect to every
   * one of them by themselves.
   */
  readonly others?: readonly string[] | undefined
  readonly modelCodec: ModelCodec
}
