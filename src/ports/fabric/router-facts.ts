/** Where a router accepts links of others. */
export interface LinkListener {
  /** As it is advertised, for example `tls:host:10080`. */
  readonly address: string
  readonly protocol: string
  readonly groups: readonly string[]
  readonly localBinding: string
}

/** Where a router accepts clients. */
export interface EdgeListener {
  readonly protocol: string
  /** `host:port` as clients reach it. */
  readonly advertise: string
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

/** Versions that a router tells of itself when it connects. */
export interface RouterSoftware {
  readonly version: string
  readonly revision: string
  readonly buildDate: string
  readonly os: string
  readonly arch: string
}

/** How a router introduces itself when it opens its control channel. */
export interface RouterGreeting {
  readonly routerId: string
  readonly software: RouterSoftware
  /** Numbers of capabilities, ascending. */
  readonly capabilities: readonly number[]
  readonly linkListeners: readonly LinkListener[]
}
