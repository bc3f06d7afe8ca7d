import type { Call, Caller, CallerCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { apiSessionValidity, callerOfSession } from '../credentials/api-session-validity.ts'
import { withSignerProof } from '../credentials/external-logins.ts'
import { hasRights } from '../facts/authority/authority.rules.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { isTakenBack } from './revocations.ts'

/**
 * Judges the caller that opened a stream or a channel once more, by the tokens that it brought then. Answers the same
 * call with the present rights of its identity; `undefined` once its API session or its token is over, a factor is
 * missing that its auth policy requires now, or it holds no right any more.
 */
export async function currentCall(context: EngineContext, call: Call): Promise<Call | undefined> {
  if (call.by === 'system') return call
  if (call.by === 'anonymous') return undefined
  const judged = await context.storage.read((tx) => judge(context, tx, call))
  const caller = judged && (await withSignerProof(context, judged, call.bearerTokens ?? []))
  return caller?.isFullyAuthenticated ? { ...call, caller } : undefined
}

async function judge(context: EngineContext, tx: ReadTransaction, { caller }: CallerCall): Promise<Caller | undefined> {
  const now = context.clock.now()
  const stored = await tx.collection(apiSessions).get(caller.apiSession.id)
  if (stored === undefined) return undefined
  // This process may remember a later use than the stored one.
  const lastActivityAt = Math.max(caller.apiSession.lastActivityAt, stored.lastActivityAt)
  const session = { ...stored, lastActivityAt }
  const judged = await apiSessionValidity(context, tx, session, now)
  if (judged.is !== 'underway' || !hasRights(judged.identity)) return undefined
  const { accessToken } = caller
  if (accessToken !== undefined) {
    const ofSession = { z_asid: session.id, sub: judged.identity.id }
    const isOver = accessToken.expiresAt * 1000 <= now
    if (isOver || (await isTakenBack(tx, { ...accessToken, session: ofSession }, now))) return undefined
  }
  return { ...caller, ...(await callerOfSession(tx, session, judged, caller.token)) }
}
