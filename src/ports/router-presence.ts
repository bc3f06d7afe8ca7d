/** Versions that a router reports about itself. */
export interface RouterVersion {
  readonly arch: string
  readonly buildDate: string
  readonly os: string
  readonly revision: string
  readonly version: string
}

/** An address at which a router accepts links of other routers. */
export interface LinkListener {
  /** The advertised address, for example `tls:host:10080`. */
  readonly address: string
  readonly protocol: string
  readonly groups: readonly string[]
  readonly localBinding: string
}

/** A network interface of a router's host, as the router reports it; `flags` come from the host's system calls. */
export interface ReportedInterface {
  readonly name: string
  readonly hardwareAddress: string
  readonly mtu: number
  readonly index: number
  readonly flags: number
  readonly addresses: readonly string[]
}

/** The connection of an edge router to the data plane. */
export interface RouterConnection {
  readonly hostname: string
  /** Protocol to URL, for example `{ tls: 'tls://er1.example.org:3022' }`. */
  readonly supportedProtocols: Readonly<Record<string, string>>
  /** The router's progress in loading the data model. Default: `SYNC_DONE`. */
  readonly syncStatus?: string
  readonly versionInfo?: RouterVersion | undefined
  /** The reported interfaces of its host. */
  readonly interfaces?: readonly ReportedInterface[] | undefined
  /** The numbers of its capabilities, ascending. */
  readonly capabilities?: readonly number[] | undefined
  /** The addresses at which it accepts links of other routers. */
  readonly linkListeners?: readonly LinkListener[] | undefined
  /** Milliseconds by which its clock is ahead of its controller's; below 0 where it is behind. */
  readonly clockAheadMs?: number | undefined
}

/** Knows the connected edge routers. A controller without a data plane uses a presence without connected routers. */
export interface RouterPresence {
  /** The connection of an online router, `undefined` while it is offline. */
  connectionOf(edgeRouterId: string): RouterConnection | undefined
}

/** The connection state of an identity's endpoints to edge routers; `unknown` for a while after their router has disconnected. */
export type IdentityConnectionStatus = 'online' | 'offline' | 'unknown'

/** The answer to a router that opens its control channel. */
export type RouterAdmission =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: 'unknown' | 'disabled' | 'unverified' | 'fingerprint' }

/** The introduction of a router on its control channel. */
export interface RouterHello {
  readonly hostname: string
  /** Its listeners: the protocol (`tls`, `wss` …) and the `host:port` that clients dial. */
  readonly listeners: readonly { readonly protocol: string; readonly advertise: string }[]
  readonly versionInfo?: RouterVersion
}

/** The reason for disconnecting a router. */
export type DisconnectReason = 'deleted' | 'disabled' | 're-enrolled' | 'fingerprint'

/** The identities with endpoints that are connected to a router: all of them, or the changes since the last report. */
export interface IdentityConnections {
  readonly full: boolean
  readonly identities: readonly { readonly identityId: string; readonly connected: boolean }[]
}

/**
 * The port between the controller and a host that runs the data plane: the host reports, the controller orders. The storage also keeps the
 * connected routers, so that every process over it answers the same. The entries last as long as the process that holds the routers, and
 * half a minute longer if that process is killed. Each process knows the connected identities only of its own routers.
 */
export interface HostedPresence {
  /**
   * Reports that a router opened its control channel with a certificate of this fingerprint (lower-case hexadecimal SHA-1). An accepted
   * router is online. The host must refuse a router that is unknown, disabled, not enrolled, or has another certificate.
   */
  routerConnected(routerId: string, fingerprint: string): Promise<RouterAdmission>
  /** Reports the addresses of a connected router; ignored for a disconnected router. */
  routerHello(routerId: string, hello: RouterHello): void
  /** Reports a closed control channel. Identities that were connected only through this router are `unknown` for five minutes. */
  routerDisconnected(routerId: string): void
  /** Reports the identities that are connected to a router. */
  identityConnections(routerId: string, report: IdentityConnections): void
  /**
   * Adds a listener for routers whose control channel must be closed; answers the function that removes it. Changes of a router by other
   * processes are noticed within a second.
   */
  onDisconnect(listener: (routerId: string, reason: DisconnectReason) => void): () => void
}
