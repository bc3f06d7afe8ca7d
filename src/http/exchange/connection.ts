/** What an adapter knows of the connection that carried a request. */
export interface ConnectionInfo {
  /** The peer's IP address, without port. */
  readonly remoteAddress?: string
  /** The client's certificates as presented in the TLS handshake: DER, leaf first. */
  readonly clientCertificates?: readonly Uint8Array[]
}
