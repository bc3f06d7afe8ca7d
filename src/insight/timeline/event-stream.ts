import { type Call, isAdminCall, mayRead } from '../../kernel/context/call.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import { type StandingPorts, standingCall } from '../../login/standing-call.ts'
import { eventAnswers } from './event-answer.ts'
import type { EventLog, KeptEvent } from './event-log.ts'
import type { TimelineEvent } from './timeline.resource.ts'

/** The ports of a stream of events. */
export interface EventStreamPorts extends StandingPorts, Pick<EngineContext, 'timetable'> {}

/** How many events are handed over at once. */
const BATCH = 64

/** The next step of a reader of a stream. */
export type StreamStep =
  /** Events, oldest first; `isCut` when earlier ones were forgotten before they were read. */
  | { readonly kind: 'events'; readonly events: readonly TimelineEvent[]; readonly isCut: boolean }
  /** Nothing happened for a while. */
  | { readonly kind: 'quiet' }
  /** There will be nothing more. */
  | { readonly kind: 'over' }

/** A stream that is open for a reader. */
export interface ReaderStream {
  /** The identity that reads; undefined for the host. */
  readonly readerId: string | undefined
  /** True when an administrator reads, or the host. */
  readonly isAdministrators: boolean
  /** Something was told; `concernsReader` when it may change what the reader may hear. */
  notice(concernsReader: boolean): void
  /** A second went by, in which another process may have written something. */
  look?(): void
  /** Time went by: the reader is told that the stream is alive, and judged again. */
  beat(): void
  /** Nothing more is handed over. */
  end(): void
}

/** The sources that a stream works with. */
export interface StreamSource {
  readonly context: EventStreamPorts
  readonly log: EventLog
  idOf(number: number): string
}

/**
 * Events for one reader, by the rights that it has when they are handed over. It remembers a place and no events: who reads
 * slowly costs nothing, and misses what is forgotten meanwhile.
 */
export class EventStream implements ReaderStream {
  readonly #source: StreamSource
  #call: Call
  #place: number
  #isOver = false
  #isQuiet = false
  /** The rights of the reader may be others than they were. */
  #isDoubtful = true
  #wake: (() => void) | undefined

  constructor(source: StreamSource, call: Call, place: number) {
    this.#source = source
    this.#call = call
    this.#place = place
  }

  get readerId(): string | undefined {
    return this.#call.by === 'caller' ? this.#call.caller.identity.id : undefined
  }

  get isAdministrators(): boolean {
    return isAdminCall(this.#call)
  }

  /** Waits for the next step, and answers it as soon as there is one. */
  async next(): Promise<StreamStep> {
    while (!this.#isOver) {
      if (this.#isDoubtful) await this.#judge()
      if (this.#isOver) break
      const { events, isCut } = this.#source.log.after(this.#place, BATCH)
      const last = events.at(-1)
      if (last !== undefined) this.#place = last.number
      else if (isCut) this.#place = this.#source.log.last
      const seen = events.filter((event) => mayHear(this.#call, event))
      if (seen.length > 0 || isCut) return { kind: 'events', events: await this.#answers(seen), isCut }
      if (last !== undefined) continue
      if (this.#isQuiet) {
        this.#isQuiet = false
        return { kind: 'quiet' }
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return { kind: 'over' }
  }

  notice(concernsReader: boolean): void {
    this.#isDoubtful ||= concernsReader
    this.#wakeUp()
  }

  beat(): void {
    this.#isQuiet = true
    this.notice(true)
  }

  end(): void {
    this.#isOver = true
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  async #judge(): Promise<void> {
    this.#isDoubtful = false
    const standing = await standingCall(this.#source.context, this.#call)
    if (standing === undefined) this.#isOver = true
    else this.#call = standing
  }

  #answers(events: readonly KeptEvent[]): Promise<readonly TimelineEvent[]> {
    const { context, idOf } = this.#source
    return context.storage.read((tx) => eventAnswers(tx, this.#call, events, idOf))
  }
}

/** Reports whether a caller may hear of an event. */
export function mayHear(call: Call, { reader }: KeptEvent): boolean {
  return reader === undefined ? isAdminCall(call) : mayRead(call, reader)
}
