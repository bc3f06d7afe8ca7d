import { isAdministrator } from '../../../domain/identity.ts'
import { dueAtOf } from '../../../domain/login/api-session-end.ts'
import type { ReadToken, SessionClaims } from '../../../domain/oidc/claims.ts'
import type { LiveToken } from '../../../domain/oidc/refresh-tokens.ts'
import { refreshedClaims } from '../../../domain/oidc/session-claims.ts'
import type { ReadTransaction, WriteTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import type { identities } from '../../../resources/identities/identities.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import { type Call, redeemed } from '../../context/call.ts'
import { apiSessionStanding } from '../../credentials/api-session-standing.ts'
import { isTakenBack } from '../../credentials/revoked-tokens.ts'
import { deletePart, endReasonsOf } from '../../records/deletion.ts'
import { MORE, type Part, writeInParts } from '../../records/parts.ts'
import type { ProviderContext } from './provider-context.ts'

/** A session whose tokens may be renewed: who it is, and what the next tokens say. */
export interface LiveSession {
  readonly apiSession: RecordOf<typeof apiSessions>
  readonly identity: RecordOf<typeof identities>
  readonly claims: SessionClaims
}

/** What becomes of the refresh tokens of a session; `undefined` for a token that was used up before. */
export type Renewal = (live: readonly LiveToken[]) => readonly LiveToken[] | undefined

/** Why a session was not renewed: it is over, or its token was used up before, which ends it. */
export type NotRenewed = 'over' | 'reused'

/**
 * Renews the session of a verified token in one write, so that any number of concurrent callers with one token, in any
 * number of processes, are judged one after the other. A token that was used up before is in the wrong hands, or its
 * successor is: the session ends, and all of its tokens with it. `tokensExpireAt` is epoch ms.
 */
export async function renewSession(
  context: ProviderContext,
  call: Call,
  token: ReadToken,
  renewal: Renewal,
  tokensExpireAt: number,
): Promise<LiveSession | NotRenewed> {
  const work = async (tx: WriteTransaction, part: Part): Promise<LiveSession | NotRenewed | typeof MORE> => {
    const live = await liveSession(context, tx, token)
    if (live === undefined) return 'over'
    const { apiSession } = live
    const refreshTokens = renewal(apiSession.refreshTokens ?? [])
    if (refreshTokens === undefined) {
      return (await deletePart(tx, apiSessions, apiSession.id, part)) === MORE ? MORE : 'reused'
    }
    const lastExpiry = Math.max(apiSession.tokensExpireAt ?? 0, tokensExpireAt)
    const renewed = { ...apiSession, refreshTokens, tokensExpireAt: lastExpiry }
    const dueAt = dueAtOf(renewed, context.settings, context.clock.now())
    await tx.collection(apiSessions).update({ ...renewed, dueAt })
    return live
  }
  return writeInParts(context, redeemed(call), work, endReasonsOf(apiSessions))
}

/** The session of a verified token, unless the token was taken back, or its session or identity is gone or shut out. */
export async function liveSession(
  context: ProviderContext,
  tx: ReadTransaction,
  token: ReadToken,
): Promise<LiveSession | undefined> {
  const apiSession = await tx.collection(apiSessions).get(token.session.z_asid)
  if (apiSession === undefined || apiSession.tokensExpireAt === null) return undefined
  const now = context.clock.now()
  const standing = await apiSessionStanding(context, tx, apiSession, now)
  if (standing.is !== 'underway' || standing.identity.id !== token.session.sub) return undefined
  if (await isTakenBack(tx, token, now)) return undefined
  const { identity } = standing
  const { externalId } = identity
  const facts = { isAdmin: isAdministrator(identity), externalId, hasPassedTotp: apiSession.isMfaComplete }
  return { apiSession, identity, claims: refreshedClaims(token.session, facts) }
}
