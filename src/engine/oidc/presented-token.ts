import { ids } from '../../domain/filter/index.ts'
import { type ReadToken, readToken } from '../../domain/oidc/claims.ts'
import { isRevoked } from '../../domain/oidc/revoked.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { revocations } from '../../resources/revocations.ts'
import { judgeToken } from '../credentials/signing-keys.ts'
import type { ProviderContext } from './provider-context.ts'

/** What is true of a token that a client presents. `foreign` is signed by somebody, but is no token of this provider. */
export type Presented =
  | { readonly outcome: 'valid' | 'expired'; readonly token: ReadToken }
  | { readonly outcome: 'foreign' }
  | { readonly outcome: 'invalid' }

/**
 * Judges a token at `now` (epoch ms) by its signature, issuer and time: whether it is an access or refresh token of this
 * provider. Revocations and the session are another question.
 */
export async function judgePresented(context: ProviderContext, token: string, now: number): Promise<Presented> {
  const issuer = context.externalTokens.issuerOf(token)
  if (issuer === undefined) return { outcome: isJwt(token) ? 'foreign' : 'invalid' }
  if (!context.provider.issuers.includes(issuer)) return { outcome: 'foreign' }
  const judgement = await judgeToken(context, token, now)
  if (judgement.outcome !== 'valid' && judgement.outcome !== 'expired') return { outcome: 'invalid' }
  const read = readToken(judgement.claims)
  return read === undefined ? { outcome: 'foreign' } : { outcome: judgement.outcome, token: read }
}

/** Reports whether a token was taken back by itself, with its session, or with its identity. */
export async function isTakenBack(
  { clock }: ProviderContext,
  tx: ReadTransaction,
  { jti, issuedAt, session }: ReadToken,
): Promise<boolean> {
  const named = [jti, session.z_asid, session.sub]
  const { items } = await tx.collection(revocations).find({ where: ids(named) })
  const issuedFor = { jti, issuedAt, apiSessionId: session.z_asid, identityId: session.sub }
  return isRevoked(issuedFor, items, clock.now())
}

function isJwt(token: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token)
}
