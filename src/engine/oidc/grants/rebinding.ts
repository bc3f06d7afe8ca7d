import type { ReadToken, SessionClaims } from '../../../domain/oidc/claims.ts'
import { OAuthError } from '../../../domain/oidc/oauth-error.ts'
import { withCertificates } from '../../../domain/oidc/session-claims.ts'
import type { Call } from '../../context/call.ts'
import { holdsNamedKey, isBound } from '../tokens/proof-of-possession.ts'
import type { ProviderContext } from '../tokens/provider-context.ts'
import { issueSessionCertificate } from '../tokens/session-certificate.ts'

/** Refuses a token that is bound to a certificate which the connection does not present. Error: `access_denied`. */
export async function requireNamedKey(context: ProviderContext, token: ReadToken, call: Call): Promise<void> {
  if (await holdsNamedKey(context, token, call.clientCertificates ?? [])) return
  throw new OAuthError('access_denied', 'peer certificate fingerprint does not match token')
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
