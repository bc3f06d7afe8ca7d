import { constants } from 'node:crypto'
import type { TlsOptions } from 'node:tls'

/** The key and certificate chain of a server, both PEM, the server's own certificate first. */
export interface ServerCertificate {
  readonly key: string
  readonly cert: string
}

/**
 * TLS as the controller needs it: client certificates are asked for, never required and never judged here.
 *
 * - An empty `ca` keeps Node's own authorities out: no list of acceptable names is sent, which would make clients
 *   withhold third-party certificates, and no issuer is added to the chain that a client presented.
 * - Sessions are not resumed: a resumed one remembers the client's leaf but not its intermediates, so a certificate
 *   accepted on one connection would be refused on the next.
 * - Renegotiation is off: nothing needs it, and the client certificate stays the one of the first handshake.
 */
export function tlsOptions({ key, cert }: ServerCertificate): TlsOptions {
  return {
    key,
    cert,
    ca: [],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  }
}
