import { isAdministrator } from '../../domain/identity.ts'
import type { Caller } from '../../engine/context/call.ts'
import { HttpRefusal } from './answer/problem.ts'

/**
 * A host's own rule on top of the declared access: asked for every operation that needs a caller, after the controller has
 * let the caller through. `operation` is the row's route, for example `DELETE /posture-checks/{id}`.
 */
export type HostAuthorization = (request: {
  readonly operation: string
  readonly identityId: string
  /** True for every administrator, the default admin included. */
  readonly isAdmin: boolean
}) => boolean | Promise<boolean>

/** Asks the host. Error: `UNAUTHORIZED` with status 403, the only place where it is not 401. */
export async function askHost(
  authorize: HostAuthorization | undefined,
  operation: string,
  caller: Caller | undefined,
): Promise<void> {
  if (authorize === undefined || caller === undefined) return
  const { identity } = caller
  if (await authorize({ operation, identityId: identity.id, isAdmin: isAdministrator(identity) })) return
  throw new HttpRefusal('UNAUTHORIZED', 403, { code: 'UNHANDLED', message: 'the host does not allow this operation' })
}
