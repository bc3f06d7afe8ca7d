import { expireAccessRequests } from '../access/access-requests.ts'
import { followTerms } from '../access/policy-terms.ts'
import { endOverdueSessions, enforceAccess, resume } from '../access/service-sessions/enforcement.ts'
import { containRights } from '../authority/containment.ts'
import { noteFormerInviters } from '../authority/invitation-secrets.ts'
import { keepAnAdministrator } from '../authority/last-administrator.ts'
import { runEach } from '../concurrency/call-isolated.ts'
import { logFailure } from '../context/background-failure.ts'
import { type Call, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import type { EndReasons, RecordedWrite } from '../context/writes.ts'
import { requireValidSession } from '../credentials/api-session-validity.ts'
import { completedEnrollments } from '../enrollment/enrollment.ts'
import { accessRequests } from '../facts/access/access-request.resource.ts'
import { isIndexed } from '../facts/access/indexed-records.ts'
import { servicePolicies } from '../facts/access/policy.resource.ts'
import { nextPhaseAt } from '../facts/access/policy-term.rules.ts'
import { endpointStates, postureData } from '../facts/access/posture/posture-data.resource.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { isDirectoryRenewal } from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions as apiSessionRecords } from '../facts/login/api-session.resource.ts'
import { revocations as revocationRecords } from '../facts/login/revocation.resource.ts'
import type { ControllerEvents, SessionEnd } from '../facts/network/events.ts'
import { traitsOf } from '../facts/resources/index.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { followGrants } from '../identities/attribute-grants.ts'
import { followDirectory } from '../identities/directory-changes.ts'
import { endRights } from '../identities/rights-terms.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { endClaims, isSessionUse } from '../login/api-session-ends.ts'
import { noteSightings } from '../login/api-session-start.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import type { Revocations } from '../login/revocations.ts'
import { NEVER } from '../records/due-records.ts'

type Events = EngineContext['events']

/** The guards that judge every write before it is committed. */
export function guardWrites(context: EngineContext): void {
  const { writes, clock } = context
  writes.admit((tx, call) => requireValidSession(context, tx, call, clock.now()))
  writes.guard((tx, write) => containRights(context, tx, write))
  writes.guard((tx, write) => keepAnAdministrator(context, tx, write))
}

/**
 * The followers of every write, in this order. Withdrawals come first: routers that lost the right to be connected are disconnected, and
 * API sessions on withdrawn credentials and sessions without a carrying policy end. Then the host gets its events.
 */
export function followWrites(context: EngineContext, apiSessions: ApiSessions, revocations: Revocations): void {
  const { clock, events, presence, writes } = context
  writes.follow(({ changes }) => presence.follow(changes), [edgeRouters, transitRouters])
  writes.follow((write) => revocations.follow(write), [revocationRecords])
  writes.follow(({ changes }) => noteDue(context, changes), [apiSessionRecords, sessions])
  writes.follow(({ changes }) => noteRequests(context, changes), [accessRequests])
  writes.follow(({ changes }) => noteRights(context, changes), [identities])
  writes.follow(({ changes }) => noteTerms(context, changes), [servicePolicies])
  writes.follow((write) => apiSessions.follow(write))
  writes.follow(({ changes }) => enforceAccess(context, changes))
  if (context.settings.profile.tellsPassingAccess) writes.follow(({ changes }) => seeEachChange(context, changes))
  writes.doubt(() => followDoubted(context))
  writes.amend((tx, changes) => endClaims(context, tx, changes), [apiSessionRecords])
  writes.amend((tx, changes) => revocations.revokeEnded(tx, changes), [apiSessionRecords])
  writes.amend((tx, changes) => noteSightings(context, tx, changes), [apiSessionRecords])
  writes.amend((tx, changes) => noteFormerInviters(context, tx, changes), [identities])
  writes.tell(({ changes }) => seeInstants(context, changes))
  writes.tell((write) => tellEntities(events, write, clock.now()))
  writes.tell((write) => tellApiSessions(events, write, clock.now()), [apiSessionRecords])
  writes.tell((write) => tellSessions(events, write, clock.now()), [sessions])
  writes.tell((write) => tellAccessRequests(events, write, clock.now()), [accessRequests])
  writes.tell((write) => tellTerminators(events, write, clock.now()), [terminators])
  writes.tell((write) => tellEnrollments(events, write, clock.now()), [enrollments])
  writes.tell((write) => tellPosture(events, write, clock.now()), [postureData, endpointStates])
}

/** Milliseconds after a commit without an answer until its consequences are looked for: the storage may be away as long. */
const DOUBTED_MS = 1000

/** Has the timetable do what follows from any write: a commit without an answer may have made its changes, and no follower saw them. */
function followDoubted(context: EngineContext): void {
  const { timetable, clock } = context
  timetable.notLater('access', 'every session', clock.now() + DOUBTED_MS)
  timetable.notLater('withdrawn', 'every API session', clock.now() + DOUBTED_MS)
  lookForEnds(context)
}

/** Compares this clock with the instants of records before their change, which any process may have written. */
function seeInstants({ otherClocks }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { before } of changes) {
    const writtenAt: unknown = before === undefined ? undefined : Reflect.get(before, 'updatedAt')
    if (typeof writtenAt === 'number') otherClocks.seen(writtenAt)
  }
}

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
 * Has the timetable look for records that ended while no process was there, and now and again for those of other processes: a process notes
 * the instants of its own writes alone, and may be gone when they come.
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

/**
 * Brings the access index level with every single write: otherwise access that one write gives and the next one takes would go unnoticed.
 */
async function seeEachChange({ storage, access }: EngineContext, changes: readonly RecordedChange[]): Promise<void> {
  if (changes.some(({ kind }) => isIndexed(kind))) await storage.read((tx) => access.at(tx))
}

/** Reports every entity that a committed write changed to listeners, in order. */
function tellEntities(events: Events, { call, changes }: RecordedWrite, at: number): void {
  const author = knownCaller(call)?.identity.id
  for (const change of changes) {
    const { operation, kind, id } = change
    if (!isBookkeeping(change)) events.emit('entity.changed', { operation, kind, id, author, at })
  }
}

function tellApiSessions(events: Events, { call, changes, reasons }: RecordedWrite, at: number): void {
  const isDeleted = deletedIn(changes)
  for (const { operation, before, after } of changesTo(changes, apiSessionRecords)) {
    if (operation === 'insert' && after !== undefined) {
      events.emit('api-session.started', { ...apiSessionFacts(after), ipAddress: after.ipAddress, at })
    } else if (operation === 'delete' && before !== undefined) {
      const reason = apiSessionEnd(before, call, isDeleted, reasons)
      events.emit('api-session.ended', { ...apiSessionFacts(before), reason, at })
    } else if (
      after !== undefined &&
      before?.lastActivityAt !== after.lastActivityAt &&
      isSessionUse({ operation, kind: apiSessionRecords.name, before, after })
    ) {
      events.emit('api-session.refreshed', { ...apiSessionFacts(after), at })
    }
  }
}

function tellSessions(events: Events, { changes, reasons }: RecordedWrite, at: number): void {
  const isDeleted = deletedIn(changes)
  for (const { operation, before, after } of changesTo(changes, sessions)) {
    if (operation === 'insert' && after !== undefined) events.emit('session.created', sessionFacts(after, at))
    if (operation !== 'delete' || before === undefined) continue
    const given = typeof reasons.sessions === 'string' ? reasons.sessions : reasons.sessions?.get(before.id)
    events.emit('session.ended', { ...sessionFacts(before, at), reason: given ?? sessionEnd(before, isDeleted) })
  }
}

function tellAccessRequests(events: Events, { call, changes }: RecordedWrite, at: number): void {
  for (const { operation, id: requestId, after } of changesTo(changes, accessRequests)) {
    if (after === undefined) continue
    const { identityId, serviceId, service, type, durationMs, reason, state, policyId, until } = after
    const facts = { requestId, identityId, serviceId: serviceId ?? undefined, service, type, at }
    if (operation === 'insert') events.emit('access-request.made', { ...facts, durationMs, reason })
    else if (state !== 'open') {
      const author = knownCaller(call)?.identity.id
      const granted = { policyId: policyId ?? undefined, until: until ?? undefined }
      events.emit('access-request.decided', { ...facts, ...granted, state, author })
    }
  }
}

function tellTerminators(events: Events, { changes }: RecordedWrite, at: number): void {
  for (const { operation, id: terminatorId, before, after } of changesTo(changes, terminators)) {
    const facts = after ?? before
    if (facts === undefined) continue
    const { serviceId, routerId, hostId, identity: instanceId, precedence, cost } = facts
    events.emit('terminator.changed', {
      operation,
      terminatorId,
      serviceId,
      routerId,
      hostId,
      instanceId,
      precedence,
      cost,
      at,
    })
  }
}

function tellEnrollments(events: Events, { changes }: RecordedWrite, at: number): void {
  for (const completed of completedEnrollments(changes)) events.emit('enrollment.completed', { ...completed, at })
}

/** Reports each identity whose posture data changed, once. */
function tellPosture(events: Events, { changes }: RecordedWrite, at: number): void {
  const reported = [...changesTo(changes, postureData), ...changesTo(changes, endpointStates)]
  for (const identityId of new Set(reported.flatMap(({ after }) => after?.identityId ?? []))) {
    events.emit('posture.changed', { identityId, at })
  }
}

function isBookkeeping(change: RecordedChange): boolean {
  if (change.kind === identities.name && isDirectoryRenewal(change)) return true
  return !traitsOf(change.kind).news || isSessionUse(change)
}

type IsDeleted = (kind: string, id: string) => boolean

function deletedIn(changes: readonly RecordedChange[]): IsDeleted {
  const deleted = new Set(
    changes.filter(({ operation }) => operation === 'delete').map(({ kind, id }) => `${kind} ${id}`),
  )
  return (kind, id) => deleted.has(`${kind} ${id}`)
}

function apiSessionFacts({ id: apiSessionId, identityId, tokensExpireAt }: RecordOf<typeof apiSessionRecords>) {
  return { apiSessionId, identityId, isBearer: tokensExpireAt !== null }
}

function sessionFacts(
  { id: sessionId, apiSessionId, identityId, serviceId, type }: RecordOf<typeof sessions>,
  at: number,
) {
  return { sessionId, apiSessionId, identityId, serviceId, type, at }
}

function sessionEnd({ apiSessionId, serviceId }: RecordOf<typeof sessions>, isDeleted: IsDeleted): SessionEnd {
  if (isDeleted('api-sessions', apiSessionId)) return 'api-session-ended'
  return isDeleted('services', serviceId) ? 'service-deleted' : 'removed'
}

function apiSessionEnd(
  { id, identityId }: RecordOf<typeof apiSessionRecords>,
  call: Call,
  isDeleted: IsDeleted,
  reasons: EndReasons,
): ControllerEvents['api-session.ended']['reason'] {
  if (isDeleted('identities', identityId)) return 'identity-deleted'
  return reasons.apiSessions ?? (knownCaller(call)?.apiSession.id === id ? 'logout' : 'removed')
}
