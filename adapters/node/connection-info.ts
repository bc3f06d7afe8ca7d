import type { IncomingMessage } from 'node:http'
import type { ConnectionInfo } from '../../src/index.ts'
import { peerCertificates } from './tls/peer-certificates.ts'

const MAPPED_PREFIX = '::ffff:'

/**
 * What is known of the connection that carries a request: the peer's address, and its certificates if it has any.
 *
 * @example
 * const server = createServer(tlsOptions(controller.tls()), async (incoming, outgoing) => {
 *   await sendResponse(await controller.fetch(await toRequest(incoming), connectionInfo(incoming)), outgoing)
 * })
 */
export function connectionInfo(incoming: IncomingMessage): ConnectionInfo {
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
