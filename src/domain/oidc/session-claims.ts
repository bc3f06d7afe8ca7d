import type { SessionClaims } from './claims.ts'

const TOTP = 'totp'

/** The methods of an authentication after TOTP was passed in the session, or taken back from it. */
function methodsWithTotp(amr: readonly string[], isPassed: boolean): readonly string[] {
  const others = amr.filter((method) => method !== TOTP)
  return isPassed ? [...others, TOTP] : others
}

/** What is true of an identity now, whatever a token says that was issued before. */
export interface CurrentFacts {
  readonly isAdmin: boolean
  readonly externalId: string | null
  readonly hasPassedTotp: boolean
}

/** The claims of a session, brought up to date for tokens that are issued now. */
export function refreshedClaims(session: SessionClaims, now: CurrentFacts): SessionClaims {
  const { z_ia: _wasAdmin, z_eid: _hadExternalId, ...kept } = session
  return {
    ...kept,
    amr: methodsWithTotp(session.amr, now.hasPassedTotp),
    ...(now.isAdmin && { z_ia: true }),
    ...(now.externalId && { z_eid: now.externalId }),
  }
}

/** The claims with another set of scopes; without any when it is empty. */
export function withScopes(session: SessionClaims, scopes: readonly string[]): SessionClaims {
  const { scopes: _before, ...kept } = session
  return scopes.length === 0 ? kept : { ...kept, scopes }
}

/** The claims with the fingerprints of certificates to which the tokens are bound. */
export function withCertificates(session: SessionClaims, fingerprints: readonly string[]): SessionClaims {
  return { ...session, z_cfs: fingerprints.length === 0 ? null : fingerprints }
}
