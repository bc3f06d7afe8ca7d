import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'

const KNOWN = new WeakMap<TLSSocket, readonly Uint8Array[]>()

/**
 * The certificates that the client presented in the TLS handshake, DER, leaf first, each followed by its issuer;
 * `undefined` when it presented none or the connection is not TLS. Possession of the leaf's key is proven by the
 * handshake; validity and trust are not, they are the controller's to decide.
 *
 * Works best on a server that trusts no authority itself, as `serve` starts it. Where the host gives its server a `ca`,
 * Node may leave out intermediates or add an issuer of its own; where sessions are resumed, intermediates are lost.
 *
 * @example
 * server.on('secureConnection', (socket) => console.log(peerCertificates(socket)?.length))
 */
export function peerCertificates(socket: Socket): readonly Uint8Array[] | undefined {
  if (!isTls(socket)) return undefined
  const presented = KNOWN.get(socket) ?? readChain(socket)
  // Also the absence of certificates is remembered: it cannot change while the connection lasts.
  if (!socket.destroyed) KNOWN.set(socket, presented)
  return presented.length === 0 ? undefined : presented
}

/** Told by what it can do, so that nothing of Node is loaded where an adapter runs without it. */
function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true && 'getPeerCertificate' in socket
}

/**
 * `getPeerX509Certificate` would be the shorter way, but it takes the intermediates away from the connection as it
 * reads them, so that only the first caller sees them.
 */
function readChain(socket: TLSSocket): readonly Uint8Array[] {
  const chain = new Map<string, Uint8Array>()
  // Node gives an empty object when there is no certificate, and lets a self-signed one be its own issuer.
  let next: Partial<DetailedPeerCertificate> | undefined | null = socket.getPeerCertificate(true)
  while (next?.raw !== undefined && next.fingerprint256 !== undefined && !chain.has(next.fingerprint256)) {
    chain.set(next.fingerprint256, new Uint8Array(next.raw))
    next = next.issuerCertificate
  }
  return [...chain.values()]
}
