import { ControllerError } from '../../../domain/errors.ts'
import { ids } from '../../../domain/filter/index.ts'
import type { Claims } from '../../../domain/login/claims.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import { revocations } from '../../../resources/login/revocations.ts'
import type { Caller } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { judgeToken } from '../../credentials/signing-keys.ts'

/**
 * Refuses a session token that is not the controller's own, has expired, was revoked, belongs to another API session than the
 * caller's, is for another service, or whose session is over. Error: `UNAUTHORIZED`.
 */
export async function requireSessionToken(
  context: EngineContext,
  caller: Caller,
  serviceId: string,
  token: string,
): Promise<void> {
  const now = context.clock.now()
  const judgement = await judgeToken(context, token, now)
  const claims = judgement.outcome === 'valid' ? judgement.claims : undefined
  const isOwn = claims?.z_asid === caller.apiSession.id && claims.z_iid === caller.identity.id
  if (claims?.z_t !== 's' || !isOwn || claims.sub !== serviceId) throw new ControllerError('UNAUTHORIZED')
  // Where routers judge a session that is made of tokens, nothing of it is kept here.
  const isKept = claims.z_leg === true || context.dataPlane.controlAddresses.length === 0
  if (isKept && !(await isUnderway(context, claims))) throw new ControllerError('UNAUTHORIZED')
  const issuedFor = [claims.jti, claims.z_asid, claims.z_iid].filter((id) => typeof id === 'string')
  const { items, damaged } = await context.storage.read((tx) =>
    tx.collection(revocations).find({ where: ids(issuedFor) }),
  )
  // A revocation that cannot be read is still one.
  const isRevoked = damaged !== undefined || items.some(({ expiresAt }) => now < expiresAt)
  if (isRevoked) throw new ControllerError('UNAUTHORIZED')
}

/** Whether the session that a token stands for is still there. */
async function isUnderway({ storage }: EngineContext, { jti, sub, z_asid, z_st }: Claims): Promise<boolean> {
  const session = typeof jti === 'string' ? await storage.read((tx) => tx.collection(sessions).get(jti)) : undefined
  return session?.apiSessionId === z_asid && session?.serviceId === sub && session?.type === z_st
}
