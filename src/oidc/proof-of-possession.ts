import { isValidAt, refusedCsr } from '../credentials/certificate-holder.ts'
import { OAuthError } from '../facts/oidc/oauth-error.rules.ts'
import type { ReadToken } from '../facts/oidc/token-claims.rules.ts'
import type { CertificateFacts } from '../ports/pki.ts'
import type { ProviderContext } from './token-issue.ts'

/** A presented token, as far as it names its session. */
export type BoundToken = Pick<ReadToken, 'session'>

/**
 * Reports whether a connection holds a key that a token is bound to: the key of a certificate that the token names, or
 * of a certificate that the network issued for its session. A token without named certificates is not bound.
 */
export async function holdsKey(
  context: ProviderContext,
  { session }: BoundToken,
  chain: readonly Uint8Array[],
): Promise<boolean> {
  if (!isBound({ session })) return true
  const leaf = await leafOf(context, chain)
  if (leaf === undefined) return false
  const now = context.clock.now()
  if (session.z_cfs?.includes(leaf.fingerprint)) return session.z_cae === true || isValidAt(leaf, now)
  if (!isOfSession(leaf, session) || !isValidAt(leaf, now)) return false
  const verdict = await context.pki.verifyClientChain(chain, now)
  return verdict.trusted && verdict.leaf.fingerprint === leaf.fingerprint
}

/**
 * The same by the named certificates alone, as the token endpoint requires. Answers the fingerprint of the named certificate that the
 * connection holds, `undefined` when it holds none of them, and null for a token without named certificates.
 */
export async function namedKey(
  context: ProviderContext,
  { session }: BoundToken,
  chain: readonly Uint8Array[],
): Promise<string | null | undefined> {
  if (!isBound({ session })) return null
  const leaf = await leafOf(context, chain)
  return session.z_cfs?.find((fingerprint) => fingerprint === leaf?.fingerprint)
}

/** Reports whether a token names certificates at all. */
export function isBound({ session: { z_cfs } }: BoundToken): boolean {
  return z_cfs !== null && z_cfs.length > 0
}

async function leafOf({ pki }: ProviderContext, [leaf]: readonly Uint8Array[]): Promise<CertificateFacts | undefined> {
  return leaf && pki.readClientCertificate(leaf)
}

function isOfSession({ uris }: CertificateFacts, { sub, z_asid }: ReadToken['session']): boolean {
  const path = `/identity/${sub}/apiSession/${z_asid}/`
  return uris.some(
    (uri) => URL.canParse(uri) && new URL(uri).protocol === 'spiffe:' && new URL(uri).pathname.startsWith(path),
  )
}

/** A certificate of a session: its chain, leaf first, PEM, and the leaf's SHA-1. */
export interface SessionCertificate {
  readonly chainPem: string
  readonly fingerprint: string
}

/**
 * Issues a client certificate for a session, valid for a year, whose names say identity, session and certificate; of
 * the request only the key is taken. Error: `invalid_request` for a request that cannot be processed.
 */
export async function issueSessionCertificate(
  { clock, pki, random }: ProviderContext,
  identityId: string,
  apiSessionId: string,
  csrPem: string,
): Promise<SessionCertificate> {
  const path = `identity/${identityId}/apiSession/${apiSessionId}/apiSessionCertificate/${random.id()}`
  const spiffeId = `spiffe://${pki.trustDomain}/${path}`
  const issued = await pki.issueClientCertificate({ csrPem, spiffeId, now: clock.now(), commonName: identityId })
  if (issued.issued) return { chainPem: issued.chainPem, fingerprint: issued.leaf.fingerprint }
  const { details } = refusedCsr('csr', issued.problem)
  const reason = details?.reason ?? issued.problem
  throw new OAuthError(
    'invalid_request',
    `invalid CSR: COULD_NOT_PROCESS_CSR: The supplied csr could not be processed: ${reason}`,
  )
}
