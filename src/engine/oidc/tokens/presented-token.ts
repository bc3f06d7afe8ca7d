import { type ReadToken, readToken } from '../../../domain/oidc/claims.ts'
import { judgeToken } from '../../credentials/signing-keys.ts'
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

function isJwt(token: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token)
}
