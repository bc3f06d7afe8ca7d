import type { ControllerEvents, EventName } from '../../facts/network/events.ts'
import { readerOfKind } from '../../facts/resources/index.ts'

/** An event as it is kept. */
export interface KeptEvent {
  /** One more than that of the event before. */
  readonly number: number
  readonly type: string
  /** Epoch ms. */
  readonly at: number
  /** The permission whose entities its readers may read; undefined for administrators alone. */
  readonly reader: string | undefined
  readonly facts: Readonly<Record<string, unknown>>
}

/** Bytes that an event counts for beside its facts; together they keep the log within its limit. */
const BASE_BYTES = 200

/** The latest events within a number of bytes: the oldest go. */
export class EventLog {
  readonly #most: number
  #events: KeptEvent[] = []
  #sizes: number[] = []
  /** How many at the beginning of the lists are gone. */
  #gone = 0
  #bytes = 0
  #last = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The number of the latest event; 0 before the first. */
  get last(): number {
    return this.#last
  }

  append(event: Omit<KeptEvent, 'number'>): void {
    this.#last += 1
    const size = BASE_BYTES + 2 * JSON.stringify(event.facts).length
    this.#events.push({ ...event, number: this.#last })
    this.#sizes.push(size)
    this.#bytes += size
    while (this.#bytes > this.#most && this.#gone < this.#events.length) {
      this.#bytes -= this.#sizes[this.#gone] ?? 0
      this.#gone += 1
    }
    // Copied seldom, so that an event costs the same however many are kept.
    if (this.#gone < this.#events.length / 2) return
    this.#events = this.#events.slice(this.#gone)
    this.#sizes = this.#sizes.slice(this.#gone)
    this.#gone = 0
  }

  /** The events after a number, up to `most`, and whether some after it are forgotten. */
  after(number: number, most: number): { readonly events: readonly KeptEvent[]; readonly isCut: boolean } {
    const first = this.#last - (this.#events.length - this.#gone) + 1
    const from = this.#gone + Math.max(number + 1 - first, 0)
    return { events: this.#events.slice(from, from + most), isCut: number + 1 < first }
  }
}

/** The right to read an event: the right to read the entities of this permission; undefined for administrators alone. */
type Reader = string | undefined

/** Readers of events. An event that is not listed is not kept: it repeats another one, or comes too often to be read. */
const READERS: Readonly<Partial<Record<EventName, Reader>>> = {
  'entity.changed': undefined,
  'authentication.attempted': 'ops',
  'service.refused': 'identity',
  'access-request.made': 'service-policy',
  'access-request.decided': 'service-policy',
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

/** The names of the events that are kept. */
// The type of the table allows no other names.
export const TOLD_EVENTS = Object.keys(READERS) as readonly EventName[]

/** The right that a reader of an event needs. */
export function readerOf<E extends EventName>(name: E, event: ControllerEvents[E]): Reader {
  return name === 'entity.changed' && 'kind' in event ? readerOfKind(String(event.kind)) : READERS[name]
}

/** Picks the facts of an event, without those for the operator alone. */
export function factsOf(type: EventName, event: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(event).filter(([name, value]) => value !== undefined && name !== 'at' && !isKeptBack(type, name)),
  )
}

/** The reason of a failed login would help a guesser, and the texts of routers are for their operator. */
function isKeptBack(type: EventName, member: string): boolean {
  if (type === 'authentication.attempted')
    return member === 'reason' || member === 'remoteAddress' || member === 'requestId'
  return type === 'router.alert' && (member === 'message' || member === 'details')
}
