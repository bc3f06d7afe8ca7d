/** A revocation, as far as it says which tokens it concerns. Instants are epoch milliseconds. */
export interface Revoked {
  readonly id: string
  readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION'
  readonly updatedAt: number
  readonly expiresAt: number
}

/** What a token was issued for. */
export interface IssuedFor {
  readonly jti: string
  readonly apiSessionId: string
  readonly identityId: string
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
}

/**
 * Reports whether one of the revocations takes a token back at `now` (epoch ms). That of an identity concerns the tokens
 * that were issued up to its second: tokens count in seconds, so those of the same second cannot be told apart.
 */
export function isRevoked(token: IssuedFor, revocations: readonly Revoked[], now: number): boolean {
  return revocations.some(({ id, type, updatedAt, expiresAt }) => {
    if (expiresAt <= now) return false
    if (type === 'IDENTITY') return id === token.identityId && token.issuedAt <= Math.floor(updatedAt / 1000)
    return id === (type === 'JTI' ? token.jti : token.apiSessionId)
  })
}
