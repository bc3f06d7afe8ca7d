import { ControllerError } from '../../domain/errors.ts'
import { isAdministrator, isDisabled } from '../../domain/identity.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import type { Call } from './call.ts'

/**
 * Judges a caller once more within the write that it asked for: between the moment when a request was authorized and its
 * write the API session may have ended, the identity may be disabled or gone, or hold less than it did. Error:
 * `UNAUTHORIZED`.
 */
export async function requireStanding(tx: WriteTransaction, call: Call, now: number): Promise<void> {
  if (call.by !== 'caller') return
  const { apiSession, identity, isFullyAuthenticated } = call.caller
  const session = await tx.collection(apiSessions).get(apiSession.id)
  const current = session && (await tx.collection(identities).get(identity.id))
  const isThere = session !== undefined && current !== undefined && !isDisabled(current, now)
  if (!isThere) throw new ControllerError('UNAUTHORIZED')
  const lacksFactor = isFullyAuthenticated && session.isMfaRequired && !session.isMfaComplete
  const isDemoted = isAdministrator(identity) && !isAdministrator(current)
  const lost = identity.permissions.some((permission) => !current.permissions.includes(permission))
  if (lacksFactor || isDemoted || lost) throw new ControllerError('UNAUTHORIZED')
}
