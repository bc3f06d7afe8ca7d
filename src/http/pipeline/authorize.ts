import { hasRights, isAdministrator, permits } from '../../authority/authority.rules.ts'
import { ControllerError, TokenRefused } from '../../base/errors.ts'
import { type Call, type Caller, callerOf, requireReading } from '../../kernel/context/call.ts'
import type { Access, OperationShape } from '../operations/operation.ts'
import { tokenChallenge } from './envelope.ts'
import { HttpRefusal } from './problem.ts'

/**
 * Lets a call through whose rights suffice for an operation: the host's own always, an anonymous one where it is open. A lack
 * of permission is `UNAUTHORIZED` (401), as deployed clients expect; while a second factor is missing nothing but `partial` is
 * open, whatever the identity may do.
 */
export function authorize({ access, reads = [] }: Pick<OperationShape, 'access' | 'reads'>, call: Call): void {
  if (access === 'public' || call.by === 'system') return
  const caller = callerOf(call)
  if (!isAllowed(access, caller)) throw refusalOf(caller)
  requireReading(call, reads)
}

function refusalOf({ missing: { signer, signerProblem = 'missing' } }: Caller): ControllerError {
  if (signer !== undefined) return new TokenRefused('secondary', signerProblem, [signer])
  return new ControllerError('UNAUTHORIZED')
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

/** A request of somebody whom the controller has let through already. */
export interface AuthorizationRequest {
  /** The API that is called: several have operations of the same route, `GET /services` for one. */
  readonly api: 'management' | 'client' | 'fabric' | 'portcullis' | 'openid'
  /** The route of the operation, for example `DELETE /posture-checks/{id}`. */
  readonly operation: string
  /** Path parameters by the names between braces, for example `{ id: '4HcCQ2Yk1' }`. */
  readonly params: Readonly<Record<string, string>>
  readonly identityId: string
  /** True for every administrator, the default admin included. */
  readonly isAdmin: boolean
}

/**
 * A host's own rule on top of the declared access: asked for every operation that needs a caller, after the controller has
 * let the caller through. What it answers false for is refused with 403.
 *
 * @example
 * import type { HostAuthorization } from 'portcullis'
 * // Delegates change nothing in the management API; devices are not concerned.
 * const authorize: HostAuthorization = ({ api, operation, isAdmin }) =>
 *   isAdmin || api !== 'management' || operation.startsWith('GET ')
 */
export type HostAuthorization = (request: AuthorizationRequest) => boolean | Promise<boolean>

/** Asks the host. Error: `UNAUTHORIZED` with status 403, the only place where it is not 401. */
export async function askHost(
  authorize: HostAuthorization | undefined,
  asked: Pick<AuthorizationRequest, 'api' | 'operation' | 'params'>,
  caller: Caller | undefined,
): Promise<void> {
  if (authorize === undefined || caller === undefined) return
  const { identity } = caller
  if (await authorize({ ...asked, identityId: identity.id, isAdmin: isAdministrator(identity) })) return
  throw new HttpRefusal('UNAUTHORIZED', 403, { code: 'UNHANDLED', message: 'the host does not allow this operation' })
}
