import type { ControllerEvents, EventName } from '../../ports/events.ts'
import { RESOURCES } from '../../resources/index.ts'

/** Who may hear of an event: who may read the entities of this permission; administrators alone where it is undefined. */
type Reader = string | undefined

/** Readers of what is told. What is not listed is not told: it repeats what others say, or comes too often to be read. */
const READERS: Readonly<Partial<Record<EventName, Reader>>> = {
  'entity.changed': undefined,
  'authentication.attempted': 'ops',
  'service.refused': 'identity',
  'api-session.started': 'ops',
  'api-session.ended': 'ops',
  'session.created': 'ops',
  'session.ended': 'ops',
  'enrollment.completed': 'enrollment',
  'posture.changed': 'identity',
  'access.changed': 'service-policy',
  'router.connection': 'router',
  'router.refused': 'router',
  'router.misbehaved': 'router',
  'router.alert': 'router',
  'link.connection': 'ops',
  'circuit.opened': 'ops',
  'circuit.moved': 'ops',
  'circuit.closed': 'ops',
  'circuit.failed': 'ops',
  'identity.connection': 'identity',
}

const PERMISSIONS = new Map(
  RESOURCES.map(({ name, definition }) => [
    name,
    definition.adminOnly?.includes('list') ? undefined : definition.permission,
  ]),
)

/** The names of the events that are told. */
// The names of the table are those that its type allows.
export const TOLD_EVENTS = Object.keys(READERS) as readonly EventName[]

/** Who may hear of an event. */
export function readerOf<E extends EventName>(name: E, event: ControllerEvents[E]): Reader {
  return name === 'entity.changed' && 'kind' in event ? PERMISSIONS.get(String(event.kind)) : READERS[name]
}

/** What is known of an event that says nothing for the operator alone. */
export function factsOf(type: EventName, event: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(event).filter(([name, value]) => value !== undefined && name !== 'at' && !isKeptBack(type, name)),
  )
}

/** Why a login failed tells who guesses what to guess next, and what routers write is for their operator. */
function isKeptBack(type: EventName, member: string): boolean {
  if (type === 'authentication.attempted') return member === 'reason' || member === 'remoteAddress'
  return type === 'router.alert' && (member === 'message' || member === 'details')
}
