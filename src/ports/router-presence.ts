/** Versions that a router tells of itself. */
export interface RouterVersion {
  readonly arch: string
  readonly buildDate: string
  readonly os: string
  readonly revision: string
  readonly version: string
}

/** Where a router accepts links of others. */
export interface LinkListener {
  /** As it is advertised, for example `tls:host:10080`. */
  readonly address: string
  readonly protocol: string
  readonly groups: readonly string[]
  readonly localBinding: string
}

/** A network interface of a router's host, as the router reports it; `flags` are those of the host's system calls. */
export interface ReportedInterface {
  readonly name: string
  readonly hardwareAddress: string
  readonly mtu: number
  readonly index: number
  readonly flags: number
  readonly addresses: readonly string[]
}

/** An edge router that is connected to its data plane, as a host knows it. */
export interface RouterConnection {
  readonly hostname: string
  /** Protocol to URL, for example `{ tls: 'tls://er1.example.org:3022' }`. */
  readonly supportedProtocols: Readonly<Record<string, string>>
  /** How far the router is in taking over the model. Default: `SYNC_DONE`. */
  readonly syncStatus?: string
  readonly versionInfo?: RouterVersion | undefined
  /** The interfaces of its host, as it reported them. */
  readonly interfaces?: readonly ReportedInterface[] | undefined
  /** The numbers of its capabilities, ascending. */
  readonly capabilities?: readonly number[] | undefined
  /** Where it accepts links of other routers. */
  readonly linkListeners?: readonly LinkListener[] | undefined
}

/** Tells which edge routers are connected. A controller without a data plane uses a presence that knows none. */
export interface RouterPresence {
  /** The connection of an online router, `undefined` while it is offline. */
  connectionOf(edgeRouterId: string): RouterConnection | undefined
}

/** Whether identities have endpoints that are connected to edge routers; unknown while the router that knows is away. */
export type IdentityConnectionStatus = 'online' | 'offline' | 'unknown'

/** The answer to a router that opens its control channel. */
export type RouterAdmission =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: 'unknown' | 'disabled' | 'unverified' | 'fingerprint' }

/** How a router introduces itself on its control channel. */
export interface RouterHello {
  readonly hostname: string
  /** Where it listens: the protocol (`tls`, `wss` …) and `host:port` as clients reach it. */
  readonly listeners: readonly { readonly protocol: string; readonly advertise: string }[]
  readonly versionInfo?: RouterVersion
}

/** Why a connected router is to be let go of. */
export type DisconnectReason = 'deleted' | 'disabled' | 're-enrolled' | 'fingerprint'

/** Which identities have endpoints connected to a router: all of them, or what changed since the last report. */
export interface IdentityConnections {
  readonly full: boolean
  readonly identities: readonly { readonly identityId: string; readonly connected: boolean }[]
}

/**
 * The port between the controller and a host that runs the data plane: reports one way, orders the other. Which routers are
 * connected is kept in the storage too, so that every process over it answers the same; it lasts as long as the process that
 * holds them, and half a minute more when that is killed. Which identities are connected each process knows of the routers
 * that it holds.
 */
export interface HostedPresence {
  /**
   * A router opened its control channel with a certificate of this fingerprint (lower-case hexadecimal SHA-1). It is online
   * when it is accepted; one that is unknown, disabled, not enrolled or has another certificate is to be refused.
   */
  routerConnected(routerId: string, fingerprint: string): Promise<RouterAdmission>
  /** A connected router says where it is reached; for one that is not connected nothing happens. */
  routerHello(routerId: string, hello: RouterHello): void
  /** The control channel closed. Who was connected through the router only is in an unknown state for five minutes. */
  routerDisconnected(routerId: string): void
  /** A connected router tells which identities are connected to it. */
  identityConnections(routerId: string, report: IdentityConnections): void
  /**
   * Adds a listener for routers whose control channel is to be closed; answers the function that removes it. What
   * another process did to a router is noticed within a second.
   */
  onDisconnect(listener: (routerId: string, reason: DisconnectReason) => void): () => void
}
