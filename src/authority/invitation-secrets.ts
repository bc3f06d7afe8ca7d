import { ControllerError } from '../base/errors.ts'
import { CLOCK_TOLERANCE_SECONDS } from '../base/time.ts'
import { type Call, isAdminCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import {
  coversToTheEnd,
  isAdministrator,
  type Permission,
  permits,
  type TermedRights,
} from '../facts/authority/authority.rules.ts'
import { type enrollments, formerInviters } from '../facts/enrollment/enrollment.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter, fieldOf, isAtMost, leavesOf } from '../kernel/filter/index.ts'
import type { FindQuery, ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { privilegedIdentities } from './trust.ts'

type Identity = RecordOf<typeof identities>

/** The id of the one record of former inviters. */
const LAST = 'last'

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
 * The enrollments of an identity that somebody may know who may not see them any more, once the identity has its new rights. Undefined
 * where it has none.
 */
export async function knownInvitations(
  tx: ReadTransaction,
  before: Identity,
  after: Identity,
): Promise<Filter | undefined> {
  const all = equals('identityId', after.id)
  const able = (await privilegedIdentities(tx)).filter((one) => permitsOne(one, INVITE_IDENTITIES))
  if (able.some((one) => coversToTheEnd(one, before) && !coversToTheEnd(one, after))) return all
  const former = await tx.collection(formerInviters).get(LAST)
  return former && both(all, isAtMost('updatedAt', former.lostAt + CLOCK_TOLERANCE_SECONDS * 1000))
}

/**
 * Keeps when an identity that may invite others last lost rights, or was deleted: it may have seen every enrollment that was there then. One
 * instant stands for all such identities, so that this costs one record, and a write that gives rights one read.
 */
export async function noteFormerInviters(
  { clock }: EngineContext,
  tx: WriteTransaction,
  changes: readonly RecordedChange[],
): Promise<void> {
  if (!changesTo(changes, identities).some(losesSight)) return
  const known = await tx.collection(formerInviters).get(LAST)
  const now = clock.now()
  if (known === undefined) await tx.collection(formerInviters).insert(newRecord(LAST, now, { lostAt: now }))
  else await tx.collection(formerInviters).update({ ...known, lostAt: Math.max(known.lostAt, now), updatedAt: now })
}

function losesSight({ before, after }: RecordedChange<Identity>): boolean {
  if (before === undefined || !(isAdministrator(before) || permitsOne(before, INVITE_IDENTITIES))) return false
  return after === undefined || !coversToTheEnd(after, before)
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
