import { expireAccessRequests } from '../access/access-requests.ts'
import { followTerms } from '../access/policy-terms.ts'
import { endOverdueSessions, resume } from '../access/service-sessions/enforcement.ts'
import { runEach } from '../concurrency/call-isolated.ts'
import { logFailure } from '../context/background-failure.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { accessRequests } from '../facts/access/access-request.resource.ts'
import { servicePolicies } from '../facts/access/policy.resource.ts'
import { nextPhaseAt } from '../facts/access/policy-term.rules.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions as apiSessionRecords } from '../facts/login/api-session.resource.ts'
import { followGrants } from '../identities/attribute-grants.ts'
import { followDirectory } from '../identities/directory-changes.ts'
import { endRights } from '../identities/rights-terms.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Revocations } from '../login/revocations.ts'
import { NEVER } from '../records/due-records.ts'

/** The work that time brings by itself. */
export function followTime(context: EngineContext, apiSessions: ApiSessions, revocations: Revocations): void {
  const { timetable } = context
  const next = (occasion: 'access-request' | 'attribute-grant' | 'rights', at: number | undefined) => {
    if (at !== undefined) timetable.notLater(occasion, 'next', at)
  }
  timetable.onDue('overdue', () => endOverdue(context, apiSessions))
  timetable.onDue('access', () => resume(context))
  timetable.onDue('access-request', async () => next('access-request', await expireAccessRequests(context)))
  timetable.onDue('rights', async () => next('rights', await endRights(context)))
  timetable.onDue('attribute-grant', async () => next('attribute-grant', await followGrants(context)))
  timetable.onDue('directory', () => followDirectory(context))
  timetable.onDue('policy-term', () => followTerms(context))
  timetable.onDue('withdrawn', () => apiSessions.endAllWithdrawn())
  timetable.onDue('revocation', (ids) => revocations.forgetExpired(ids))
  timetable.onDue('unnoted-ends', async () => lookForEnds(context))
}

/**
 * Has the timetable look for records that ended while no process was running, and at intervals for records of other processes. A process
 * notes only the instants of its own writes, and may have ended when they come.
 */
export function lookForEnds({ timetable, clock, settings }: EngineContext): void {
  const now = clock.now()
  const occasions = ['overdue', 'access-request', 'rights', 'attribute-grant', 'directory', 'policy-term'] as const
  for (const occasion of occasions) timetable.notLater(occasion, 'next', now)
  const { lookForOthersMs } = settings
  if (lookForOthersMs !== undefined) timetable.notLater('unnoted-ends', 'look', now + lookForOthersMs)
}

/**
 * Ends the sessions that are over by time, whichever process began them: it may be gone. The timetable looks again when
 * the next of the store is due.
 */
async function endOverdue(context: EngineContext, apiSessions: ApiSessions): Promise<void> {
  const note = (next: number | undefined) => {
    if (next !== undefined) context.timetable.notLater('overdue', 'next', next)
  }
  const works = [async () => note(await apiSessions.endOverdue()), async () => note(await endOverdueSessions(context))]
  await runEach(works, (error) => logFailure(context.logger, 'neither kind of session could be ended in time', error))
}

/** From now on the timetable notes the instants at which something of a written record is due. */
export function noteDueRecords(context: EngineContext): void {
  const { writes } = context
  writes.follow(({ changes }) => noteDue(context, changes), [apiSessionRecords, sessions])
  writes.follow(({ changes }) => noteRequests(context, changes), [accessRequests])
  writes.follow(({ changes }) => noteRights(context, changes), [identities])
  writes.follow(({ changes }) => noteTerms(context, changes), [servicePolicies])
}

/** The timetable looks when a session of the write is due. */
function noteDue({ timetable }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { after } of [...changesTo(changes, apiSessionRecords), ...changesTo(changes, sessions)]) {
    if (after !== undefined && after.dueAt !== NEVER) timetable.notLater('overdue', 'next', after.dueAt)
  }
}

/** The timetable looks when an open access request of the write is due. */
function noteRequests({ timetable }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { after } of changesTo(changes, accessRequests)) {
    if (after !== undefined && after.dueAt !== NEVER) timetable.notLater('access-request', 'next', after.dueAt)
  }
}

/** The timetable looks when rights or grants of an identity of the write end, or the directory is due for it. */
function noteRights({ timetable }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { after } of changesTo(changes, identities)) {
    if (after === undefined) continue
    const { rightsUntil, grantsDueAt, directoryUntil, directoryDueAt } = after
    if (grantsDueAt !== null) timetable.notLater('attribute-grant', 'next', grantsDueAt)
    if (rightsUntil !== null) timetable.notLater('rights', 'next', rightsUntil)
    for (const at of [directoryUntil, directoryDueAt]) if (at !== null) timetable.notLater('directory', 'next', at)
  }
}

/** The timetable looks when a service policy of the write begins or ends. */
function noteTerms({ timetable }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { after } of changesTo(changes, servicePolicies)) {
    const next = after && nextPhaseAt(after)
    if (next !== undefined) timetable.notLater('policy-term', 'next', next)
  }
}
