import { hasRights } from '../../domain/authority.ts'
import { ids } from '../../domain/filter/index.ts'
import { isDisabled } from '../../domain/identity.ts'
import { isRevoked } from '../../domain/oidc/revoked.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { revocations } from '../../resources/login/revocations.ts'
import type { Call } from '../context/call.ts'

/**
 * Judges once more who reads a stream that it opened earlier: the same call with the rights that its identity has at `now`
 * (epoch ms); `undefined` once its API session or its token is over, or it holds no right any more.
 */
export async function standingReader(tx: ReadTransaction, call: Call, now: number): Promise<Call | undefined> {
  if (call.by === 'system') return call
  if (call.by === 'anonymous') return undefined
  const { apiSession, accessToken } = call.caller
  const session = await tx.collection(apiSessions).get(apiSession.id)
  const identity = session && (await tx.collection(identities).get(session.identityId))
  if (session === undefined || identity === undefined || isDisabled(identity, now)) return undefined
  if (session.isMfaRequired && !session.isMfaComplete) return undefined
  if (accessToken !== undefined) {
    const { jti, issuedAt, expiresAt } = accessToken
    if (expiresAt * 1000 <= now) return undefined
    const { items } = await tx.collection(revocations).find({ where: ids([jti, session.id, identity.id]) })
    const issuedFor = { jti, issuedAt, apiSessionId: session.id, identityId: identity.id }
    if (isRevoked(issuedFor, items, now)) return undefined
  }
  return hasRights(identity) ? { ...call, caller: { ...call.caller, identity } } : undefined
}
