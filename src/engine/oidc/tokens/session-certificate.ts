import { OAuthError } from '../../../domain/oidc/oauth-error.ts'
import { refusedCsr } from '../../credentials/client-certificates.ts'
import type { ProviderContext } from './provider-context.ts'

/** A certificate of a session: its chain, leaf first, PEM, and the leaf's SHA-1. */
export interface SessionCertificate {
  readonly chainPem: string
  readonly fingerprint: string
}

/**
 * Issues a client certificate for a session, good for a year, whose names say identity, session and certificate; of the
 * request only the key is taken. Error: `invalid_request` for a request that cannot be processed.
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
