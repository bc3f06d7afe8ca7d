import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { ConnectionInfo } from '../../../src/index.ts'

const MAPPED_PREFIX = '::ffff:'

/** Chains that were read: Node parses them anew each time. */
const KNOWN = new WeakMap<TLSSocket, readonly Uint8Array[]>()

/**
 * Reads the facts of the connection that carries a request: the peer's address, and its certificates if it has any.
 *
 * @example
 * const server = createServer(tlsOptions(controller.tls()), async (incoming, outgoing) => {
 *   await sendResponse(await controller.fetch(await toRequest(incoming), connectionInfo(incoming)), outgoing)
 * })
 */
export function connectionInfo(incoming: Pick<IncomingMessage, 'socket'>): ConnectionInfo {
  const { socket } = incoming
  const clientCertificates = peerCertificates(socket)
  return {
    ...(socket.remoteAddress === undefined ? {} : { remoteAddress: unmapped(socket.remoteAddress) }),
    ...(clientCertificates === undefined ? {} : { clientCertificates }),
  }
}

/** An IPv4 peer of a dual-stack socket is reported by its IPv4 address. */
function unmapped(address: string): string {
  return address.startsWith(MAPPED_PREFIX) ? address.slice(MAPPED_PREFIX.length) : address
}

/**
 * The certificates that the client presented in the TLS handshake, DER, leaf first, each followed by its issuer; `undefined` when it
 * presented none or the connection is not TLS. The handshake proves possession of the leaf's key. The controller judges validity and trust.
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

/** Recognized by its methods, so that an adapter without Node loads nothing of Node. */
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
