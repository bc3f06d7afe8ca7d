import type { PlainFetch } from './plain-exchange.ts'

/** What an adapter knows of the connection that carried a request. */
export interface ConnectionInfo {
  /** The peer's IP address, without port. */
  readonly remoteAddress?: string
  /** The client's certificates as presented in the TLS handshake: DER, leaf first. */
  readonly clientCertificates?: readonly Uint8Array[]
}

/** The whole HTTP story of a controller: one web-standard function. It never rejects. */
export interface ControllerFetch {
  (request: Request, connection?: ConnectionInfo): Promise<Response>
  /** The same without web requests and responses, which the adapters for Node do without where it is there. */
  readonly plain?: PlainFetch
}
