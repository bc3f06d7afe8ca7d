import { permits } from '../../domain/authority.ts'
import { ControllerError } from '../../domain/errors.ts'
import { type Call, isAdminCall } from './call.ts'

/** Reports whether a call may read the entities of a permission, such as `service-policy`. */
export function mayRead(call: Call, entity: string): boolean {
  if (isAdminCall(call)) return true
  if (call.by !== 'caller' || !call.caller.isFullyAuthenticated) return false
  return permits(call.caller.identity.permissions, { entity, action: 'read' })
}

/**
 * Refuses an answer that tells of several kinds to a caller who may not read them all: of what it could not be told, it would learn
 * by asking. Error: `UNAUTHORIZED`, which names the first permission that is missing.
 */
export function requireReading(call: Call, entities: readonly string[]): void {
  const missing = entities.find((entity) => !mayRead(call, entity))
  if (missing === undefined) return
  throw new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message: `it takes the permission ${missing}.read` })
}
