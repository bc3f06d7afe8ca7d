import { sessions } from '../resources/access/sessions.ts'
import { apiSessions as apiSessionRecords } from '../resources/login/api-sessions.ts'
import { endOverdueSessions, enforceAccess } from './access/enforcement/access-enforcement.ts'
import { resume } from './access/enforcement/resume.ts'
import { containRights } from './authority/containment.ts'
import { keepAnAdministrator } from './authority/last-administrator.ts'
import type { EngineContext } from './context/context.ts'
import { changesTo, type RecordedChange } from './context/recorded-changes.ts'
import { requireStanding } from './credentials/api-session-standing.ts'
import type { ApiSessions } from './login/api-sessions.ts'
import type { Revocations } from './login/revocations.ts'
import { NEVER } from './records/due-records.ts'
import { tellChanges } from './records/tell-changes.ts'

/** Everything that judges a write before it is committed, whoever writes. */
export function guardWrites(context: EngineContext): void {
  const { writes, clock } = context
  writes.admit((tx, call) => requireStanding(context, tx, call, clock.now()))
  writes.guard(containRights)
  writes.guard((tx, write) => keepAnAdministrator(context, tx, write))
}

/**
 * Everything that follows from a write, in this order, whoever writes: routers that lost the right to be connected are let
 * go of, a clock that is behind is noticed, the host is told, API sessions are looked after, and sessions that no policy
 * carries any more are ended.
 */
export function followWrites(context: EngineContext, apiSessions: ApiSessions, revocations: Revocations): void {
  const { presence, writes } = context
  writes.follow(({ changes }) => presence.follow(changes))
  writes.follow(({ changes }) => seeInstants(context, changes))
  writes.follow((write) => tellChanges(context, write))
  writes.follow(({ changes }) => noteDue(context, changes))
  writes.follow((write) => apiSessions.follow(write))
  writes.amend((tx, changes) => revocations.revokeEnded(tx, changes))
  writes.follow((write) => revocations.follow(write))
  writes.follow(({ changes }) => enforceAccess(context, changes))
  if (context.settings.profile.tellsPassingAccess) writes.follow(({ changes }) => seeEachChange(context, changes))
}

/** What was there before was written by whichever process. */
function seeInstants({ otherClocks }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { before } of changes) {
    const writtenAt: unknown = before === undefined ? undefined : Reflect.get(before, 'updatedAt')
    if (typeof writtenAt === 'number') otherClocks.seen(writtenAt)
  }
}

/** Everything that time brings by itself. */
export function followTime(context: EngineContext, apiSessions: ApiSessions, revocations: Revocations): void {
  const { timetable } = context
  timetable.onDue('overdue', () => endOverdue(context, apiSessions))
  timetable.onDue('access', () => resume(context))
  timetable.onDue('withdrawn', () => apiSessions.endAllWithdrawn())
  timetable.onDue('revocation', (ids) => revocations.forgetExpired(ids))
}

/**
 * Ends the sessions that are over by time, whichever process began them: that one may be gone. The timetable looks again
 * when the next of the store is due.
 */
async function endOverdue(context: EngineContext, apiSessions: ApiSessions): Promise<void> {
  const next = [await apiSessions.endOverdue(), await endOverdueSessions(context)].filter((at) => at !== undefined)
  if (next.length > 0) context.timetable.notLater('overdue', 'next', Math.min(...next))
}

/** The timetable looks when a session of the write is due. */
function noteDue({ timetable }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { after } of [...changesTo(changes, apiSessionRecords), ...changesTo(changes, sessions)]) {
    if (after !== undefined && after.dueAt !== NEVER) timetable.notLater('overdue', 'next', after.dueAt)
  }
}

/** Brings the access index level with every single write, so that what one write gives and the next one takes is noticed. */
async function seeEachChange({ storage, access }: EngineContext, changes: readonly RecordedChange[]): Promise<void> {
  const indexed = ['identities', 'services', 'service-policies', 'posture-checks']
  if (changes.some(({ kind }) => indexed.includes(kind))) await storage.read((tx) => access.at(tx))
}
