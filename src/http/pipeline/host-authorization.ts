import { isAdministrator } from '../../domain/identity.ts'
import type { Caller } from '../../engine/context/call.ts'
import { HttpRefusal } from './answer/problem.ts'

/** What somebody wants to do whom the controller has let through already. */
export interface AuthorizationRequest {
  /** The API that is called: several have operations of the same route, `GET /services` for one. */
  readonly api: 'management' | 'client' | 'fabric' | 'portcullis' | 'openid'
  /** The route of the operation, for example `DELETE /posture-checks/{id}`. */
  readonly operation: string
  /** What stands in the path for the names between braces, for example `{ id: '4HcCQ2Yk1' }`. */
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
