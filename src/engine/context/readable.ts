import { permits } from '../../domain/authority.ts'
import { type Call, isAdminCall } from './call.ts'

/** Reports whether a call may read the entities of a permission, such as `service-policy`. */
export function mayRead(call: Call, entity: string): boolean {
  if (isAdminCall(call)) return true
  if (call.by !== 'caller' || !call.caller.isFullyAuthenticated) return false
  return permits(call.caller.identity.permissions, { entity, action: 'read' })
}
