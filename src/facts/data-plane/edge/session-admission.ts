/** A session that an endpoint may present, as a router knows it. */
export interface PresentableSession {
  readonly id: string
  readonly identityId: string
  /** SHA-1 of the certificates that may present it, lower-case hexadecimal digits. */
  readonly fingerprints: readonly string[]
  /** The expiry of its token, epoch ms; undefined for a session that the controller ends. */
  readonly expiresAt: number | undefined
  /** True when it may be presented with an expired certificate. */
  readonly allowsExpiredCertificate: boolean
}

/** The certificate of a TLS handshake. */
export interface PresentedCertificate {
  readonly fingerprint: string
  /** Epoch ms. */
  readonly notAfter: number
  /** The holder according to the network's own authority; undefined for a certificate of another authority. */
  readonly issuedFor: { readonly identityId: string; readonly apiSessionId: string | undefined } | undefined
}

/** An endpoint of the router's own process, which needs no certificate: the program chose its session. */
export const OF_THIS_PROCESS = 'of this process'

/** Whether the token of an API session is an access token. An access token is a JWT; the token of a stored session is a UUID. */
export function isAccessToken(token: string): boolean {
  return token.startsWith('ey')
}

/** The reason to refuse a session with a certificate; undefined when they are accepted. `now` is epoch ms. */
export function sessionRefusal(
  session: PresentableSession | undefined,
  certificate: PresentedCertificate | typeof OF_THIS_PROCESS | undefined,
  now: number,
): string | undefined {
  if (certificate === undefined) return 'no client certificate was shown'
  if (session === undefined) return 'the api session is not known'
  if (session.expiresAt !== undefined && now >= session.expiresAt) return 'the access token has expired'
  if (certificate === OF_THIS_PROCESS) return undefined
  const isExpired = now >= certificate.notAfter
  const mayBeExpired = session.allowsExpiredCertificate
  if (session.fingerprints.includes(certificate.fingerprint)) {
    return isExpired && !mayBeExpired ? 'the client certificate has expired' : undefined
  }
  const { issuedFor } = certificate
  if (issuedFor?.identityId !== session.identityId) return 'the client certificate does not belong to the api session'
  if (issuedFor.apiSessionId !== undefined && issuedFor.apiSessionId !== session.id) {
    return 'the client certificate was issued for another api session'
  }
  // A certificate for a single session is never accepted after its expiry.
  const isForSession = issuedFor.apiSessionId !== undefined
  return isExpired && (isForSession || !mayBeExpired) ? 'the client certificate has expired' : undefined
}
