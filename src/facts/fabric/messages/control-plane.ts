import type { FromRouter, RouterGreeting } from './from-router.ts'
import type { DialProcess, ProcessChannel, ProcessProofs, ProcessSession } from './processes.ts'
import type { ModelCodec } from './router-data-model.ts'
import type { ToRouter } from './to-router.ts'

/**
 * The channel to a connected router. Messages are queued and arrive in order, including messages sent before the close. After the close,
 * calls have no effect.
 */
export interface RouterChannel {
  /** The number of its sockets by type; undefined for a channel without sockets. */
  readonly sockets?: ReadonlyMap<string, number>
  send(message: ToRouter): void
  close(): void
}

/** The reason why a router may not connect. */
export type ChannelRefusal =
  | 'no-certificate'
  | 'untrusted-certificate'
  | 'unknown'
  | 'disabled'
  | 'not-enrolled'
  | 'wrong-fingerprint'
  | 'already-connected'

/** The verdict whether the certificates of a socket belong to this network and are valid now. */
export type SocketAdmission =
  | { readonly admitted: true; readonly fingerprint: string }
  | { readonly admitted: false; readonly reason: ChannelRefusal }

/** A socket whose certificates were verified. */
export interface VerifiedSocket {
  /** SHA-1 of its certificate, in lower-case hexadecimal digits. */
  readonly fingerprint: string
  readonly remoteAddress: string | undefined
}

/** Misconduct of a router that harms other parties if unchecked. */
export type Misbehaviour =
  | 'flood'
  | 'slow-reader'
  | 'malformed'
  | 'foreign-terminator'
  | 'foreign-link'
  | 'foreign-circuit'

/** The session of a router that is connected by a channel of one or more sockets. */
export interface RouterSession {
  /** Takes a message and answers the reply, if any. Never rejects because of a message's contents. */
  receive(message: FromRouter): Promise<ToRouter | undefined>
  /** Reports that the router handles messages: the first sign of life after its hello. */
  heard(): void
  misbehaved(what: Misbehaviour): void
  /** Reports that the last socket has closed. */
  closed(): void
}

/** A request for the edge router of a controller process, which is created if it does not exist. */
export interface OwnRouterRequest {
  readonly name: string
  /** Role attributes of a new router; an existing router keeps its own. */
  readonly roleAttributes: readonly string[]
  /** Makes a key (PEM) and signing requests for it (PEM). The client's request has the id as common name. */
  readonly newKey: (
    routerId: string,
  ) => Promise<{ readonly keyPem: string; readonly clientCsrPem: string; readonly serverCsrPem: string }>
}

/** An edge router that runs in a process of the controller, with its key and certificates, all PEM. */
export interface OwnRouter {
  readonly id: string
  readonly name: string
  /** SHA-1 of the client certificate, in lower-case hexadecimal digits. */
  readonly fingerprint: string
  readonly keyPem: string
  readonly certPem: string
  readonly serverCertPem: string
  /** The network's trust bundle. */
  readonly caPem: string
  /** The instant of the next request, epoch ms, which renews the certificates. */
  readonly renewAt: number
}

/** The only part of the controller that the routers' wire protocol calls. */
export interface ControlPlane {
  /** Stays the same over restarts: routers know controllers by it. */
  readonly controllerId: string
  /** Verifies the certificates of a TLS handshake (DER, leaf first). No record is read: the named router is judged later. */
  verify(routerId: string, chain: readonly Uint8Array[], remoteAddress: string | undefined): Promise<SocketAdmission>
  /** Judges a further socket of a connected router; answers the reason of a refusal. */
  admit(routerId: string, socket: VerifiedSocket): Promise<ChannelRefusal | undefined>
  /**
   * Judges a router by one snapshot and begins its session. An older session of the router is closed in its favour. If the other session
   * began a moment ago, the new router is refused, so that two routers with one certificate do not keep disconnecting each other.
   */
  connect(
    greeting: RouterGreeting,
    socket: VerifiedSocket,
    channel: RouterChannel,
  ): Promise<RouterSession | ChannelRefusal>
  /** The proofs by which processes over the same store know each other. */
  readonly proofs: ProcessProofs
  /** Lets a process, by the address that it proved, use the routers that are connected to this process. */
  serveProcess(channel: ProcessChannel, address: string): ProcessSession
  /** The edge router of this process. Rejects if a router with its name was enrolled elsewhere. */
  ownRouter(request: OwnRouterRequest): Promise<OwnRouter>
  /** Tells the log what happened at the router of this process, which has none of its own. */
  log(event: string, facts: Readonly<Record<string, string>>): void
  /** Adds a listener for changes of the network's keys, after which certificates may be renewed; answers the function that removes it. */
  onKeysChanged(listener: () => void): () => void
  /**
   * Begins an API session of an identity, by id or name, in whose name this process acts; answers its token. Rejects for an unknown
   * identity.
   */
  startSession(identity: string): Promise<string>
  /** Changes the addresses at which routers reach this process, as enrollment tokens and greetings announce them. Its id stays. */
  moveTo(addresses: readonly string[]): void
  /** Closes every channel. */
  close(): Promise<void>
}

/** The facts that the wire protocol gives to the control plane. */
export interface ControlPlaneOptions {
  /** The addresses at which routers reach this process, for example `tls:host:6262`; the first address names the controller. */
  readonly addresses: readonly string[]
  /**
   * The addresses at which routers reach the other processes over the same store, one for each. Routers get them and connect to each
   * process.
   */
  readonly others?: readonly string[] | undefined
  readonly modelCodec: ModelCodec
  /** Connects to the other processes over the same store. Without it, circuits use only routers with a channel to this process. */
  readonly dialProcess?: DialProcess | undefined
  /** Reports the current activity of the process to operators, as text. */
  readonly processReport?: (() => string) | undefined
}
