import { constants, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { TlsOptions } from 'node:tls'

/** Milliseconds for the TLS handshake of a router or SDK, and of silence before its TCP connection is probed. */
export const ROUTER_HANDSHAKE_MS = 5000
export const ROUTER_KEEP_ALIVE_MS = 15_000

/** The facts by which a client judges the certificate of a server. */
export interface ServerCertificateFacts {
  /** The DNS names and IP addresses that it is for. */
  readonly names: readonly string[]
  /** Milliseconds since the Unix epoch. */
  readonly notAfter: number
  /** Whether it is for a DNS name or IP address. */
  covers(host: string): boolean
}

/**
 * The facts of the first certificate of a PEM chain. Throws when there is none.
 *
 * @example
 * const { names, notAfter } = serverCertificateFacts(controller.tls().cert)
 * if (notAfter < Date.now()) console.log(names, 'is over')
 */
export function serverCertificateFacts(pem: string): ServerCertificateFacts {
  const certificate = new X509Certificate(pem)
  return {
    names: (certificate.subjectAltName ?? '').split(', ').flatMap((entry) => {
      const name = /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1]
      return name === undefined ? [] : [name]
    }),
    notAfter: Date.parse(certificate.validTo),
    covers: (host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  }
}

/** The key and certificate chain of a server, both PEM, the server's own certificate first. */
export interface ServerCertificate {
  readonly key: string
  readonly cert: string
}

/**
 * Key exchanges with forward secrecy and ciphers with authentication: what the OpenZiti SDKs, for Go, C, the JVM and Python,
 * offer first. A recording of the traffic stays unreadable when the server's key becomes known.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':')

/**
 * TLS as the controller needs it: client certificates are asked for, never required and never judged here. `serve`
 * uses it; so does a server of your own: `createServer(tlsOptions(controller.tls()), app)`.
 *
 * - An empty `ca` keeps Node's own authorities out: no list of acceptable names is sent, which would make clients
 *   withhold third-party certificates, and no issuer is added to the chain that a client presented.
 * - Sessions are not resumed: a resumed one remembers the client's leaf but not its intermediates, so a certificate
 *   accepted on one connection would be refused on the next.
 * - TLS 1.2 with ECDHE and AES-GCM or ChaCha20-Poly1305, and TLS 1.3.
 * - Renegotiation is off: nothing needs it, and the client certificate stays that of the first handshake.
 *
 * `protocols` are those of ALPN, in the order in which they are chosen. No `SNICallback` is set: the options of NestJS narrow its type.
 *
 * @example
 * createServer(tlsOptions(controller.tls()), createListener(controller.fetch)).listen(1280)
 */
export function tlsOptions(
  { key, cert }: ServerCertificate,
  protocols: readonly string[] = ['http/1.1'],
): Omit<TlsOptions, 'SNICallback'> {
  return {
    key,
    cert,
    ca: [],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    ALPNProtocols: [...protocols],
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  }
}
