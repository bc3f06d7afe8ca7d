import { BoundedMap } from '../base/collections.ts'
import { type Call, redeemed } from '../context/call.ts'
import { apiSessionValidity } from '../credentials/api-session-validity.ts'
import { judgeToken } from '../credentials/signing-keys.ts'
import { isAdministrator } from '../facts/authority/authority.rules.ts'
import { dueAtOf } from '../facts/credentials/login-basis.rules.ts'
import type { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { LiveToken } from '../facts/oidc/refresh-tokens.rules.ts'
import { type ReadToken, readToken, refreshedClaims, type SessionClaims } from '../facts/oidc/token-claims.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { isTakenBack } from '../login/revocations.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { deleteBatch, endReasonsOf } from '../records/deletion.ts'
import { MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'
import type { ProviderContext } from './token-issue.ts'

/** A session whose tokens may be renewed: its identity, and the claims of the next tokens. */
export interface LiveSession {
  readonly apiSession: RecordOf<typeof apiSessions>
  readonly identity: RecordOf<typeof identities>
  readonly claims: SessionClaims
}

/** A change of the refresh tokens of a session; it answers `undefined` for a token that was used up before. */
export type Renewal = (live: readonly LiveToken[]) => readonly LiveToken[] | undefined

/** Why a session was not renewed: it is over, or its token was used up before, which ends it. */
export type NotRenewed = 'over' | 'reused'

/**
 * Renews the session of a verified token in one write, so that concurrent callers with one token, in any process, are
 * judged one after the other. When a token was used up before, it or its successor is in the wrong hands: the session
 * ends, and all of its tokens with it. `tokensExpireAt` is epoch ms.
 */
export async function renewSession(
  context: ProviderContext,
  call: Call,
  token: ReadToken,
  renewal: Renewal,
  tokensExpireAt: number,
): Promise<LiveSession | NotRenewed> {
  const work = async (tx: WriteTransaction, batch: WriteBatch): Promise<LiveSession | NotRenewed | typeof MORE> => {
    const live = await liveSession(context, tx, token)
    if (live === undefined) return 'over'
    const { apiSession } = live
    const refreshTokens = renewal(apiSession.refreshTokens ?? [])
    if (refreshTokens === undefined) {
      return (await deleteBatch(tx, apiSessions, apiSession.id, batch)) === MORE ? MORE : 'reused'
    }
    const lastExpiry = Math.max(apiSession.tokensExpireAt ?? 0, tokensExpireAt)
    const renewed = { ...apiSession, refreshTokens, tokensExpireAt: lastExpiry }
    const dueAt = dueAtOf(renewed, context.settings, context.clock.now())
    await tx.collection(apiSessions).update({ ...renewed, dueAt })
    return live
  }
  return writeInBatches(context, redeemed(call), work, endReasonsOf(apiSessions))
}

/** The session of a verified token, unless the token was revoked, or its session or identity is gone or disabled. */
export async function liveSession(
  context: ProviderContext,
  tx: ReadTransaction,
  token: ReadToken,
): Promise<LiveSession | undefined> {
  const apiSession = await tx.collection(apiSessions).get(token.session.z_asid)
  if (apiSession === undefined || apiSession.tokensExpireAt === null) return undefined
  const now = context.clock.now()
  const validity = await apiSessionValidity(context, tx, apiSession, now)
  if (validity.is !== 'underway' || validity.identity.id !== token.session.sub) return undefined
  if (await isTakenBack(tx, token, now)) return undefined
  const { identity } = validity
  const { externalId } = identity
  const facts = { isAdmin: isAdministrator(identity), externalId, hasPassedTotp: apiSession.isMfaComplete }
  return { apiSession, identity, claims: refreshedClaims(token.session, facts) }
}

/** The outcome of reading a token that a client presents. A `foreign` token has a signature, but is no token of this provider. */
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

/** How many access tokens are remembered, some two thousand characters each. */
const MAX_REMEMBERED = 10_000

/** Access tokens with a verified signature, by their digest: most requests with one need no cryptography. */
export class VerifiedTokens {
  readonly #tokens = new BoundedMap<string, ReadToken>(MAX_REMEMBERED)

  /** A verified token, unless it has expired at `now` (epoch ms) since. */
  get(digest: string, now: number): ReadToken | undefined {
    const known = this.#tokens.get(digest)
    if (known === undefined) return undefined
    this.#tokens.delete(digest)
    if (known.expiresAt * 1000 <= now) return undefined
    this.#tokens.set(digest, known)
    return known
  }

  add(digest: string, token: ReadToken): void {
    this.#tokens.set(digest, token)
  }

  /** The token is refused from now on, for every verifier, so its signature does not matter any more. */
  delete(digest: string): void {
    this.#tokens.delete(digest)
  }
}
