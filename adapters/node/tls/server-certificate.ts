import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** What a client will hold against the certificate of a server. */
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
