import { type Call, isAdminCall, mayRead } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import type { TimelineEvent } from '../../facts/insight/timeline.resource.ts'
import { eventAnswers } from './event-answer.ts'
import type { EventLog, KeptEvent } from './event-log.ts'
import { type Found, ReaderStream } from './reader-stream.ts'

/** How many events are handed over at once. */
const EVENTS_PER_READ = 64

/** Events, oldest first; `isCut` when earlier ones were forgotten before they were read. */
export interface EventBatch {
  readonly kind: 'events'
  readonly events: readonly TimelineEvent[]
  readonly isCut: boolean
}

/** The sources that a stream works with. */
export interface StreamSource {
  readonly context: EngineContext
  readonly log: EventLog
  idOf(number: number): string
}

/** Events for one reader, by its rights at the moment of handing over. A slow reader misses events that are forgotten meanwhile. */
export class EventStream extends ReaderStream<EventBatch> {
  readonly #source: StreamSource
  #place: number

  constructor(source: StreamSource, call: Call, place: number) {
    super(source.context, call)
    this.#source = source
    this.#place = place
  }

  protected async find(call: Call): Promise<Found<EventBatch>> {
    const { log, context, idOf } = this.#source
    const { events, isCut } = log.after(this.#place, EVENTS_PER_READ)
    const last = events.at(-1)
    if (last !== undefined) this.#place = last.number
    else if (isCut) this.#place = log.last
    const seen = events.filter((event) => mayHear(call, event))
    if (seen.length === 0 && !isCut) return last === undefined ? 'wait' : 'look on'
    const answers = await context.storage.read((tx) => eventAnswers(tx, call, seen, idOf))
    return { kind: 'events', events: answers, isCut }
  }
}

/** Reports whether a caller may read an event. */
export function mayHear(call: Call, { reader }: KeptEvent): boolean {
  return reader === undefined ? isAdminCall(call) : mayRead(call, reader)
}
