import { covers, type Permission, permits, type RightsHolder } from '../../domain/authority.ts'
import { ControllerError } from '../../domain/errors.ts'
import { fieldOf, leavesOf } from '../../domain/filter/index.ts'
import type { FindQuery } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { enrollments } from '../../resources/enrollment/enrollments.ts'
import { type Call, isAdminCall } from '../context/call.ts'

/** What lets somebody enroll in the place of whom an enrollment is meant for. */
type InvitationSecrets = Pick<RecordOf<typeof enrollments>, 'jwt' | 'token'>

/** Who may invite identities, and therefore see how they are invited. */
const INVITE_IDENTITIES: readonly Permission[] = [
  { entity: 'enrollment', action: 'create' },
  { entity: 'enrollment', action: 'update' },
  { entity: 'identity', action: 'create' },
]
const INVITE_ROUTERS: readonly Permission[] = [
  { entity: 'router', action: 'create' },
  { entity: 'router', action: 'update' },
]

/**
 * The secrets of an enrollment as a caller may see them: empty for who could neither create nor refresh it, because reading
 * would be acting then. `invited` is the identity that it is meant for, or `router`.
 */
export function shownSecrets(
  call: Call,
  { jwt, token }: InvitationSecrets,
  invited: RightsHolder | 'router',
): InvitationSecrets {
  return mayInvite(call, invited) ? { jwt, token } : { jwt: '', token: '' }
}

function mayInvite(call: Call, invited: RightsHolder | 'router'): boolean {
  if (isAdminCall(call)) return true
  if (call.by !== 'caller' || !call.caller.isFullyAuthenticated) return false
  const { identity } = call.caller
  const needed = invited === 'router' ? INVITE_ROUTERS : INVITE_IDENTITIES
  if (!needed.some((permission) => permits(identity.permissions, permission))) return false
  return invited === 'router' || covers(identity, invited)
}

/**
 * Refuses a question whose answer would tell an enrollment's secret piece by piece, such as `token > "m"`, from anybody but
 * an administrator. Error: `INVALID_FILTER`.
 */
export function refuseQuestionsAboutSecrets(call: Call, { where, orderBy = [] }: FindQuery): void {
  if (isAdminCall(call)) return
  const asked = [...(where === undefined ? [] : leavesOf(where).map(fieldOf)), ...orderBy.map(({ field }) => field)]
  const secret = asked.find((field) => field === 'token' || field === 'jwt')
  if (secret === undefined) return
  const message = `${secret} is a secret, which only administrators may ask for`
  throw new ControllerError('INVALID_FILTER', { code: 'UNHANDLED', message })
}
