import { isIndexed } from '../access/access-feed.ts'
import { type EnforcementPorts, endOverdueSessions, enforceAccess, resume } from '../access/sessions/enforcement.ts'
import { sessions } from '../access/sessions/session.resource.ts'
import { containRights } from '../authority/containment.ts'
import { keepAnAdministrator } from '../authority/last-administrator.ts'
import { runEach } from '../concurrency/call-isolated.ts'
import { requireValidSession } from '../credentials/api-session-validity.ts'
import type { EngineContext } from '../kernel/context/context.ts'
import { changesTo, type RecordedChange } from '../kernel/context/recorded-changes.ts'
import { NEVER } from '../kernel/records/due-records.ts'
import { apiSessions as apiSessionRecords } from '../login/api-session.resource.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Revocations } from '../login/revocations.ts'
import { tellChanges } from './tell-changes.ts'

/** The ports of all guards and followers. */
interface FollowerPorts
  extends EnforcementPorts,
    Pick<EngineContext, 'digest' | 'logger' | 'otherClocks' | 'pki' | 'presence'> {}

/** Everything that judges a write before it is committed, whoever writes. */
export function guardWrites(context: FollowerPorts): void {
  const { writes, clock } = context
  writes.admit((tx, call) => requireValidSession(context, tx, call, clock.now()))
  writes.guard(containRights)
  writes.guard((tx, write) => keepAnAdministrator(context, tx, write))
}

/**
 * Everything that follows from a write, in this order, whoever writes. What takes something from somebody comes first: routers
 * that lost the right to be connected are let go of, API sessions that stood on what was withdrawn end, and sessions that no
 * policy carries any more. Then the host is told.
 */
export function followWrites(context: FollowerPorts, apiSessions: ApiSessions, revocations: Revocations): void {
  const { presence, writes } = context
  writes.follow(({ changes }) => presence.follow(changes))
  writes.follow((write) => revocations.follow(write))
  writes.follow(({ changes }) => noteDue(context, changes))
  writes.follow((write) => apiSessions.follow(write))
  writes.follow(({ changes }) => enforceAccess(context, changes))
  if (context.settings.profile.tellsPassingAccess) writes.follow(({ changes }) => seeEachChange(context, changes))
  writes.amend((tx, changes) => revocations.revokeEnded(tx, changes))
  writes.tell(({ changes }) => seeInstants(context, changes))
  writes.tell((write) => tellChanges(context, write))
}

/** Compares this clock with the instants of records before their change, which whichever process wrote. */
function seeInstants({ otherClocks }: Pick<EngineContext, 'otherClocks'>, changes: readonly RecordedChange[]): void {
  for (const { before } of changes) {
    const writtenAt: unknown = before === undefined ? undefined : Reflect.get(before, 'updatedAt')
    if (typeof writtenAt === 'number') otherClocks.seen(writtenAt)
  }
}

/** Everything that time brings by itself. */
export function followTime(context: FollowerPorts, apiSessions: ApiSessions, revocations: Revocations): void {
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
async function endOverdue(context: FollowerPorts, apiSessions: ApiSessions): Promise<void> {
  const note = (next: number | undefined) => {
    if (next !== undefined) context.timetable.notLater('overdue', 'next', next)
  }
  const works = [async () => note(await apiSessions.endOverdue()), async () => note(await endOverdueSessions(context))]
  await runEach(works, (error) =>
    context.logger.error('neither kind of session could be ended in time', { error: String(error) }),
  )
}

/** The timetable looks when a session of the write is due. */
function noteDue({ timetable }: Pick<EngineContext, 'timetable'>, changes: readonly RecordedChange[]): void {
  for (const { after } of [...changesTo(changes, apiSessionRecords), ...changesTo(changes, sessions)]) {
    if (after !== undefined && after.dueAt !== NEVER) timetable.notLater('overdue', 'next', after.dueAt)
  }
}

/** Brings the access index level with every single write, so that what one write gives and the next one takes is noticed. */
async function seeEachChange(
  { storage, access }: Pick<EngineContext, 'access' | 'storage'>,
  changes: readonly RecordedChange[],
): Promise<void> {
  if (changes.some(({ kind }) => isIndexed(kind))) await storage.read((tx) => access.at(tx))
}
