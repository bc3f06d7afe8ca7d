import { hasRights, permits } from '../../domain/authority.ts'
import { ControllerError, TokenRefused } from '../../domain/errors.ts'
import { isAdministrator } from '../../domain/identity.ts'
import type { Caller } from '../../engine/context/call.ts'
import type { Access } from '../operations/operation.ts'
import { tokenChallenge } from './answer/token-challenge.ts'

/**
 * Lets a caller through whose rights suffice. A lack of permission is `UNAUTHORIZED` (401), as deployed clients
 * expect; while a second factor is missing nothing but `partial` is open, whatever the identity may do.
 */
export function authorize(access: Access, caller: Caller): void {
  if (isAllowed(access, caller)) return
  const { signer, signerProblem = 'missing' } = caller.missing
  if (signer !== undefined) throw new TokenRefused('secondary', signerProblem, [signer])
  throw new ControllerError('UNAUTHORIZED')
}

/** The challenge of a session that may go on, but needs a token of an external signer to be complete. */
export function secondaryChallenge({ missing: { signer, signerProblem = 'missing' } }: Caller): string | undefined {
  return signer && tokenChallenge({ factor: 'secondary', problem: signerProblem, signers: [signer] })
}

function isAllowed(access: Access, caller: Caller): boolean {
  if (access === 'public' || access === 'partial') return true
  if (!caller.isFullyAuthenticated) return false
  if (access === 'authenticated' || isAdministrator(caller.identity)) return true
  if (access === 'admin') return false
  if (access === 'delegate') return hasRights(caller.identity)
  return permits(caller.identity.permissions, access)
}
