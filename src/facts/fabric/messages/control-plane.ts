import type { FromRouter, RouterGreeting } from './from-router.ts'
import type { DialProcess, ProcessChannel, ProcessProofs, ProcessSession } from './processes.ts'
import type { ModelCodec } from './router-data-model.ts'

import type { ToRouter } from './to-router.ts'

/**
 * The way to a connected router. What is sent is queued and arrives in order, also what was sent before it is closed; then
 * nothing happens any more.
 */
export interface RouterChannel {
  /** How many sockets it has, by their types; undefined for one without sockets. */
  readonly sockets?: ReadonlyMap<string, number>
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

/** Whether the certificates of a socket are of this network and good now. */
export type SocketAdmission =
  | { readonly admitted: true; readonly fingerprint: string }
  | { readonly admitted: false; readonly reason: ChannelRefusal }

/** A socket whose certificates were verified. */
export interface VerifiedSocket {
  /** SHA-1 of its certificate, in lower-case hexadecimal digits. */
  readonly fingerprint: string
  readonly remoteAddress: string | undefined
}

/** Conduct of a router that harms others if nobody looks. */
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
  /** The router handles messages: the first sign of life after its hello, whatever it is. */
  heard(): void
  misbehaved(what: Misbehaviour): void
  /** The last socket is gone. */
  closed(): void
}

/** Which edge router runs in a process of the controller, where it is made if there is none. */
export interface OwnRouterRequest {
  readonly name: string
  /** Of a router that is made; those of one that is there stay. */
  readonly roleAttributes: readonly string[]
  /** Makes a key (PEM) and requests for certificates of it (PEM), the first for the id as common name. */
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
  /** When to ask again, epoch ms: the certificates are renewed then. */
  readonly renewAt: number
}

/** The part of the controller that the wire of routers calls; it knows nothing else of it. */
export interface ControlPlane {
  /** Stays the same over restarts: routers know controllers by it. */
  readonly controllerId: string
  /** Verifies the certificates of a TLS handshake (DER, leaf first). No record is read: the router that is named is judged later. */
  verify(routerId: string, chain: readonly Uint8Array[], remoteAddress: string | undefined): Promise<SocketAdmission>
  /** Judges a further socket of a router that is connected; answers why it is refused, if it is. */
  admit(routerId: string, socket: VerifiedSocket): Promise<ChannelRefusal | undefined>
  /**
   * Judges a router by one snapshot and begins its session. One that has been connected for long is closed in its favour; next to one that
   * connected a moment ago it is refused, so that two with one certificate do not put each other out all the time.
   */
  connect(
    greeting: RouterGreeting,
    socket: VerifiedSocket,
    channel: RouterChannel,
  ): Promise<RouterSession | ChannelRefusal>
  /** By what this process and the others over the same store know each other. */
  readonly proofs: ProcessProofs
  /** Lets a process that proved to be one use the routers that are connected here. */
  serveProcess(channel: ProcessChannel): ProcessSession
  /** The edge router of this process. Rejects where one of its name was enrolled elsewhere. */
  ownRouter(request: OwnRouterRequest): Promise<OwnRouter>
  /** Adds a listener for changes of the network's keys, after which certificates may be renewed; answers what removes it. */
  onKeysChanged(listener: () => void): () => void
  /**
   * Begins an API session of an identity, by id or name, that this process acts as; answers its token. Rejects where there is no
   * such identity.
   */
  startSession(identity: string): Promise<string>
  /** Routers reach this process there from now on: enrollment tokens and greetings say so. It keeps its id. */
  moveTo(addresses: readonly string[]): void
  /** Closes every channel. */
  close(): Promise<void>
}

/** The facts that the wire tells the control plane of itself. */
export interface ControlPlaneOptions {
  /** Where routers reach this process, for example `tls:host:6262`; the first one names the controller. */
  readonly addresses: readonly string[]
  /**
   * Where routers reach the other processes over the same store, one address for each; routers get them, and connect to every
   * one of them by themselves.
   */
  readonly others?: readonly string[] | undefined
  readonly modelCodec: ModelCodec
  /**
   * Connects to the other processes over the same store. Without it circuits are laid over routers alone that hold a channel to this
   * process.
   */
  readonly dialProcess?: DialProcess | undefined
  /** Tells operators what the process does right now, as text. */
  readonly processReport?: (() => string) | undefined
}
