import { ControllerError } from '../../domain/errors.ts'
import { ids } from '../../domain/filter/index.ts'
import { revocations } from '../../resources/revocations.ts'
import type { Caller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'

/**
 * Refuses a session token that is not the controller's own, has expired, was revoked or belongs to another API session
 * than the caller's. Error: `UNAUTHORIZED`.
 */
export async function requireSessionToken(context: EngineContext, caller: Caller, token: string): Promise<void> {
  const now = context.clock.now()
  const claims = await context.tokens.verify(token, now)
  if (claims?.z_t !== 's' || claims.z_asid !== caller.apiSession.id) throw new ControllerError('UNAUTHORIZED')
  const issuedFor = [claims.jti, claims.z_asid, claims.z_iid].filter((id) => typeof id === 'string')
  const { items } = await context.storage.read((tx) => tx.collection(revocations).find({ where: ids(issuedFor) }))
  if (items.some(({ expiresAt }) => now < expiresAt)) throw new ControllerError('UNAUTHORIZED')
}
