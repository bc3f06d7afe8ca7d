import { type Call, knownCaller } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import type { EndReasons, RecordedWrite } from '../context/writes.ts'
import { completedEnrollments } from '../enrollment/enrollment.ts'
import { accessRequests } from '../facts/access/access-request.resource.ts'
import { endpointStates, postureData } from '../facts/access/posture/posture-data.resource.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { isDirectoryRenewal } from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions as apiSessionRecords } from '../facts/login/api-session.resource.ts'
import type { ControllerEvents, SessionEnd } from '../facts/network/events.ts'
import { traitsOf } from '../facts/resources/index.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { isSessionUse } from '../login/api-session-ends.ts'

type Events = EngineContext['events']

/** From now on every committed write is reported to the host as events: first the entities, then the events of each kind. */
export function tellWrites({ clock, events, writes }: EngineContext): void {
  writes.tell((write) => tellEntities(events, write, clock.now()))
  writes.tell((write) => tellApiSessions(events, write, clock.now()), [apiSessionRecords])
  writes.tell((write) => tellSessions(events, write, clock.now()), [sessions])
  writes.tell((write) => tellAccessRequests(events, write, clock.now()), [accessRequests])
  writes.tell((write) => tellTerminators(events, write, clock.now()), [terminators])
  writes.tell((write) => tellEnrollments(events, write, clock.now()), [enrollments])
  writes.tell((write) => tellPosture(events, write, clock.now()), [postureData, endpointStates])
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
    const told = { serviceId, routerId, hostId, instanceId, precedence, cost }
    events.emit('terminator.changed', { operation, terminatorId, ...told, at })
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
