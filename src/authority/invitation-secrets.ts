import { ControllerError } from '../base/errors.ts'
import { type Call, isAdminCall } from '../context/call.ts'
import { coversToTheEnd, type Permission, permits, type TermedRights } from '../facts/authority/authority.rules.ts'
import type { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { fieldOf, leavesOf } from '../kernel/filter/index.ts'
import type { FindQuery, ReadTransaction } from '../ports/record-storage.ts'
import { privilegedIdentities } from './trust.ts'

/** The secrets of an enrollment: their holder can enroll as its identity. */
type InvitationSecrets = Pick<RecordOf<typeof enrollments>, 'jwt' | 'token'>

/** The secrets as shown to a caller without the right to them. */
export const NO_SECRETS: InvitationSecrets = { jwt: '', token: '' }

/** Callers that may invite identities, and may therefore see their invitations. */
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
 * The secrets of an enrollment as a caller may see them. They are empty for a caller that could neither create nor refresh it, because
 * reading them would be enough to enroll. `invited` is the identity that it is meant for, or `router`.
 */
export function shownSecrets(
  call: Call,
  { jwt, token }: InvitationSecrets,
  invited: TermedRights | 'router',
): InvitationSecrets {
  return mayInvite(call, invited) ? { jwt, token } : NO_SECRETS
}

/** Reports whether a caller sees the secrets of enrollments of `invited`, an identity or `router`. */
export function mayInvite(call: Call, invited: TermedRights | 'router'): boolean {
  if (isAdminCall(call)) return true
  if (call.by !== 'caller' || !call.caller.isFullyAuthenticated) return false
  const { identity } = call.caller
  if (invited === 'router') return permitsOne(identity, INVITE_ROUTERS)
  return permitsOne(identity, INVITE_IDENTITIES) && coversToTheEnd(identity, invited)
}

/**
 * Reports whether a caller may have seen the secrets of an identity's enrollments that may not see them any more, once
 * the identity has its new rights.
 */
export async function mayHaveBeenSeen(
  tx: ReadTransaction,
  before: TermedRights,
  after: TermedRights,
): Promise<boolean> {
  const able = await privilegedIdentities(tx)
  return able.some(
    (one) => permitsOne(one, INVITE_IDENTITIES) && coversToTheEnd(one, before) && !coversToTheEnd(one, after),
  )
}

function permitsOne({ permissions }: TermedRights, needed: readonly Permission[]): boolean {
  return needed.some((permission) => permits(permissions, permission))
}

/**
 * Refuses a question whose answer would reveal an enrollment's secret piece by piece, such as `token > "m"`, except
 * from an administrator. Error: `INVALID_FILTER`.
 */
export function refuseQuestionsAboutSecrets(call: Call, { where, orderBy = [] }: FindQuery): void {
  if (isAdminCall(call)) return
  const asked = [...(where === undefined ? [] : leavesOf(where).map(fieldOf)), ...orderBy.map(({ field }) => field)]
  const secret = asked.find((field) => field === 'token' || field === 'jwt')
  if (secret === undefined) return
  const message = `${secret} is a secret, which only administrators may ask for`
  throw new ControllerError('INVALID_FILTER', { code: 'UNHANDLED', message })
}
