import { checkServerIdentity, type PeerCertificate } from 'node:tls'

/** The URI in the certificates that a network issues to its routers, as Node writes alternative names. */
const ROUTER_URI = /URI:"?spiffe:\/\/[^/]+\/router\//

/**
 * Checks the certificate that a server shows where a controller is called: an error for another host, and for the certificate of a router.
 * A router chooses the host names in its certificate, and the same authorities vouch for it: with the name of the controller it could stand
 * in its place.
 */
export function checkControllerCertificate(host: string, certificate: PeerCertificate): Error | undefined {
  if (ROUTER_URI.test(certificate.subjectaltname ?? '')) {
    const message = `the server at ${host} shows the certificate of a router, and no controller does`
    return Object.assign(new Error(message), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  }
  return checkServerIdentity(host, certificate)
}
