import { endpointStates, postureData } from '../access/posture/posture-data.resource.ts'
import { sessions } from '../access/sessions/session.resource.ts'
import { completedEnrollments } from '../enrollment/completed-enrollments.ts'
import { type Call, knownCaller } from '../kernel/context/call.ts'
import type { EngineContext } from '../kernel/context/context.ts'
import { changesTo, type RecordedChange } from '../kernel/context/recorded-changes.ts'
import type { EndReasons, RecordedWrite } from '../kernel/context/writes.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { apiSessions } from '../login/api-session.resource.ts'
import { isSessionUse } from '../login/api-session-activity.ts'
import type { ControllerEvents, SessionEnd } from '../ports/events.ts'
import { traitsOf } from '../resources/index.ts'
import { terminators } from '../services/terminator.resource.ts'

/** Tells listeners what a committed write changed: every entity, in order, and what that means for sessions. */
export function tellChanges(
  context: Pick<EngineContext, 'clock' | 'events'>,
  { call, changes, reasons }: RecordedWrite,
): void {
  const { events } = context
  const at = context.clock.now()
  const author = knownCaller(call)?.identity.id
  for (const change of changes) {
    const { operation, kind, id } = change
    if (!isBookkeeping(change)) events.emit('entity.changed', { operation, kind, id, author, at })
  }
  const isDeleted = deletedIn(changes)
  for (const { operation, before, after } of changesTo(changes, apiSessions)) {
    if (operation === 'insert' && after !== undefined) {
      const { id: apiSessionId, identityId, ipAddress } = after
      events.emit('api-session.started', { apiSessionId, identityId, ipAddress, at })
    } else if (operation === 'delete' && before !== undefined) {
      const { id: apiSessionId, identityId } = before
      const reason = apiSessionEnd(before, call, isDeleted, reasons)
      events.emit('api-session.ended', { apiSessionId, identityId, reason, at })
    } else if (
      after !== undefined &&
      before?.lastActivityAt !== after.lastActivityAt &&
      isSessionUse({ operation, kind: apiSessions.name, before, after })
    ) {
      const { id: apiSessionId, identityId } = after
      events.emit('api-session.refreshed', { apiSessionId, identityId, at })
    }
  }
  for (const { operation, before, after } of changesTo(changes, sessions)) {
    if (operation === 'insert' && after !== undefined) events.emit('session.created', sessionFacts(after, at))
    if (operation !== 'delete' || before === undefined) continue
    const told = typeof reasons.sessions === 'string' ? reasons.sessions : reasons.sessions?.get(before.id)
    const reason = told ?? sessionEnd(before, isDeleted)
    events.emit('session.ended', { ...sessionFacts(before, at), reason })
  }
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
  for (const completed of completedEnrollments(changes)) events.emit('enrollment.completed', { ...completed, at })
  for (const identityId of reporting(changes)) events.emit('posture.changed', { identityId, at })
}

/** The identities of whose endpoints something else is known now. */
function reporting(changes: readonly RecordedChange[]): ReadonlySet<string> {
  const reported = [...changesTo(changes, postureData), ...changesTo(changes, endpointStates)]
  return new Set(reported.flatMap(({ after }) => after?.identityId ?? []))
}

function isBookkeeping(change: RecordedChange): boolean {
  return !traitsOf(change.kind).news || isSessionUse(change)
}

type IsDeleted = (kind: string, id: string) => boolean

function deletedIn(changes: readonly RecordedChange[]): IsDeleted {
  const deleted = new Set(
    changes.filter(({ operation }) => operation === 'delete').map(({ kind, id }) => `${kind} ${id}`),
  )
  return (kind, id) => deleted.has(`${kind} ${id}`)
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
  { id, identityId }: RecordOf<typeof apiSessions>,
  call: Call,
  isDeleted: IsDeleted,
  reasons: EndReasons,
): ControllerEvents['api-session.ended']['reason'] {
  if (isDeleted('identities', identityId)) return 'identity-deleted'
  return reasons.apiSessions ?? (knownCaller(call)?.apiSession.id === id ? 'logout' : 'removed')
}
