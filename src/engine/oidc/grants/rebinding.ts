import type { ReadToken, SessionClaims } from '../../../domain/oidc/claims.ts'
import { OAuthError } from '../../../domain/oidc/oauth-error.ts'
import type { Presentation, Prover } from '../../../domain/oidc/refresh-tokens.ts'
import { withCertificates } from '../../../domain/oidc/session-claims.ts'
import type { Call } from '../../context/call.ts'
import { isBound, namedKey } from '../tokens/proof-of-possession.ts'
import type { ProviderContext } from '../tokens/provider-context.ts'
import { issueSessionCertificate } from '../tokens/session-certificate.ts'

/**
 * Who presents a token. Error: `access_denied` where it is bound to certificates and the connection presents none of them.
 */
export async function proverOf(
  context: ProviderContext,
  token: ReadToken,
  call: Call,
  clientId: string,
): Promise<Prover> {
  const certificate = await namedKey(context, token, call.clientCertificates ?? [])
  if (certificate !== undefined) return { clientId, certificate }
  throw new OAuthError('access_denied', 'peer certificate fingerprint does not match token')
}

/** A refresh token as it is presented now. */
export function presentationOf({ clock, settings }: ProviderContext, { jti }: ReadToken, by: Prover): Presentation {
  return { jti, by, now: clock.now(), graceMs: settings.profile.refreshTokenGraceMs }
}

/** A further certificate of a session, and what makes it take the place of the one before in the next tokens. */
export interface FurtherCertificate {
  readonly chainPem: string
  rebind(claims: SessionClaims): SessionClaims
}

/**
 * Issues another certificate for the session of a token, where one is asked for and the token is bound to certificates: a
 * plain bearer token cannot become another's proof. Error: `invalid_request`.
 */
export async function certifyAgain(
  context: ProviderContext,
  token: ReadToken,
  csrPem: string | undefined,
): Promise<FurtherCertificate | undefined> {
  if (!csrPem || !isBound(token)) return undefined
  const { sub, z_asid, z_acf } = token.session
  const { chainPem, fingerprint } = await issueSessionCertificate(context, sub, z_asid, csrPem)
  const kept = z_acf === undefined ? [] : [z_acf]
  return { chainPem, rebind: (claims) => withCertificates(claims, [...kept, fingerprint]) }
}
