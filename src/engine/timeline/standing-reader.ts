import { hasRights } from '../../domain/authority.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import type { Call, Caller, CallerCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { apiSessionStanding, callerOfSession } from '../credentials/api-session-standing.ts'
import { withSignerProof } from '../credentials/external-logins.ts'
import { isTakenBack } from '../credentials/revoked-tokens.ts'

/**
 * Judges once more who reads a stream that it opened earlier, by the tokens that it brought then: the same call with the
 * rights that its identity has now; `undefined` once its API session or its token is over, a factor is missing that its auth
 * policy demands now, or it holds no right any more.
 */
export async function standingReader(context: EngineContext, call: Call): Promise<Call | undefined> {
  if (call.by === 'system') return call
  if (call.by === 'anonymous') return undefined
  const standing = await context.storage.read((tx) => judge(context, tx, call))
  const caller = standing && (await withSignerProof(context, standing, call.bearerTokens ?? []))
  return caller?.isFullyAuthenticated ? { ...call, caller } : undefined
}

async function judge(context: EngineContext, tx: ReadTransaction, { caller }: CallerCall): Promise<Caller | undefined> {
  const now = context.clock.now()
  const stored = await tx.collection(apiSessions).get(caller.apiSession.id)
  if (stored === undefined) return undefined
  // What this process remembers of its use may be later than what is stored.
  const lastActivityAt = Math.max(caller.apiSession.lastActivityAt, stored.lastActivityAt)
  const session = { ...stored, lastActivityAt }
  const standing = await apiSessionStanding(context, tx, session, now)
  if (standing.is !== 'underway' || !hasRights(standing.identity)) return undefined
  const { accessToken } = caller
  if (accessToken !== undefined) {
    const ofSession = { z_asid: session.id, sub: standing.identity.id }
    const isOver = accessToken.expiresAt * 1000 <= now
    if (isOver || (await isTakenBack(tx, { ...accessToken, session: ofSession }, now))) return undefined
  }
  return { ...caller, ...(await callerOfSession(tx, session, standing, caller.token)) }
}
