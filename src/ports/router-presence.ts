/** What a host knows of an edge router that is connected to its data plane. */
export interface RouterConnection {
  readonly hostname: string
  /** Protocol to URL, for example `{ tls: 'tls://er1.example.org:3022' }`. */
  readonly supportedProtocols: Readonly<Record<string, string>>
}

/** Tells which edge routers are connected. A controller without a data plane uses a presence that knows none. */
export interface RouterPresence {
  /** The connection of an online router, `undefined` while it is offline. */
  connectionOf(edgeRouterId: string): RouterConnection | undefined
}
