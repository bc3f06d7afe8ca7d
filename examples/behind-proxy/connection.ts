import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ConnectionInfo } from 'portcullis'
import { ADDRESS_HEADER, CERTIFICATE_HEADER } from './proxy.ts'

/** Reads the proxy's headers about the connection that it ended. Nobody but the proxy may reach the port where they are believed. */
export function connectionBehindProxy({ headers }: IncomingMessage): ConnectionInfo {
  const address = headers[ADDRESS_HEADER]
  const certificate = headers[CERTIFICATE_HEADER]
  return {
    ...(typeof address === 'string' ? { remoteAddress: address } : {}),
    ...(typeof certificate === 'string' ? { clientCertificates: [derOf(certificate)] } : {}),
  }
}

function derOf(escapedPem: string): Uint8Array {
  return new X509Certificate(decodeURIComponent(escapedPem)).raw
}
