import type { z } from 'zod'
import { TooManyAttempts } from '../../base/errors.ts'
import type { Call } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { changesAfter, placeOf } from '../../context/store-level.ts'
import { type Timeline, TimelineRequest } from '../../facts/insight/timeline.resource.ts'
import type { ControllerEvents, EventName } from '../../facts/network/events.ts'
import { traitsOf } from '../../facts/resources/index.ts'
import { readRequest } from '../../kernel/declaration/read-body.ts'
import { type HistoryPoint, isSamePoint } from '../../ports/record-storage.ts'
import { eventAnswers } from './event-answer.ts'
import { EventLog, factsOf, readerOf, TOLD_EVENTS } from './event-log.ts'
import { EventStream, mayHear, type StreamSource } from './event-stream.ts'
import type { ReaderStream } from './reader-stream.ts'

/** Milliseconds between two signs of life to the readers of streams; each time their rights are judged again. */
const HEARTBEAT_MS = 15_000
/** Milliseconds after which readers are judged again: another process, or another write, may have withdrawn their rights. */
const RIGHTS_LOOK_MS = 1000
/** The events of this process, for callers with the right to read them: past events, and new events as they happen. */
export class Timelines {
  readonly #source: StreamSource
  readonly #streams = new Set<ReaderStream>()
  /** Distinguishes the numbers of this process from those of another one, and from those of its own earlier starts. */
  readonly #instance: string
  /** The place of the store when readers were last judged; undefined while there are no readers. */
  #place: HistoryPoint | undefined

  constructor(context: EngineContext) {
    const log = new EventLog(context.settings.limits.timelineBytes)
    this.#instance = context.random.id()
    this.#source = { context, log, idOf: (number) => `${this.#instance}.${number}` }
    for (const name of TOLD_EVENTS) context.events.on(name, (event) => this.#keep(name, event))
    context.timetable.onDue('event-stream', async (occasions) => {
      if (occasions.includes('look')) await this.#look()
      if (occasions.includes('all')) this.#beat()
    })
  }

  /** Reads the events after a given one, oldest first; without one, the latest. The caller gets only events that it may read. */
  async read(call: Call, input: z.input<typeof TimelineRequest> = {}): Promise<Timeline> {
    const { after, limit } = readRequest(TimelineRequest, input)
    const { context, log, idOf } = this.#source
    const { place, isKnown } = this.#placeOf(after, 0)
    const { events, isCut } = log.after(place, log.last)
    const heard = events.filter((event) => mayHear(call, event))
    const shown = after === undefined ? heard.slice(-limit) : heard.slice(0, limit)
    const next = shown.length < heard.length ? (shown.at(-1)?.number ?? log.last) : log.last
    return {
      events: await context.storage.read((tx) => eventAnswers(tx, call, shown, idOf)),
      next: idOf(after === undefined ? log.last : next),
      isCut: isCut || !isKnown || (after === undefined && shown.length < heard.length),
    }
  }

  /**
   * Opens a stream of the events after a given one, or from now on.
   *
   * @throws {ControllerError} RATE_LIMITED as {@link admit} does.
   */
  open(call: Call, after?: string): EventStream {
    return this.admit(new EventStream(this.#source, call, this.#placeOf(after, this.#source.log.last).place))
  }

  /**
   * Takes in a stream for its reader. When an identity has too many, its oldest one ends. When all identities together
   * have too many, the oldest one of the identity with the most ends; for an administrator, one of a delegate.
   *
   * @throws {ControllerError} RATE_LIMITED when no identity has more than the reader would have then.
   */
  admit<S extends ReaderStream>(stream: S): S {
    const { context } = this.#source
    const { eventStreams, eventStreamsPerIdentity } = context.settings.limits
    const own = [...this.#streams].filter(({ readerId }) => readerId === stream.readerId)
    for (const oldest of own.slice(0, Math.max(own.length + 1 - eventStreamsPerIdentity, 0))) this.close(oldest)
    if (this.#streams.size >= eventStreams) this.#makeRoomFor(stream)
    this.#streams.add(stream)
    context.timetable.notLater('event-stream', 'all', context.clock.now() + HEARTBEAT_MS)
    context.timetable.notLater('event-stream', 'look', context.clock.now() + RIGHTS_LOOK_MS)
    return stream
  }

  /** Ends a stream. */
  close(stream: ReaderStream): void {
    this.#streams.delete(stream)
    stream.end()
  }

  /** Ends every stream: the controller closes. */
  closeAll(): void {
    for (const stream of this.#streams) this.close(stream)
  }

  #makeRoomFor({ readerId, isAdministrators }: ReaderStream): void {
    const held = new Map<string | undefined, ReaderStream[]>()
    for (const stream of this.#streams) held.set(stream.readerId, [...(held.get(stream.readerId) ?? []), stream])
    const most = (of: readonly ReaderStream[][]) =>
      of.reduce<readonly ReaderStream[]>((known, one) => (one.length > known.length ? one : known), [])
    const delegates = most([...held.values()].filter(([first]) => first?.isAdministrators === false))
    const others = most([...held.values()].filter(([first]) => first?.isAdministrators === isAdministrators))
    const isFair = others.length > (held.get(readerId)?.length ?? 0) + 1
    const [oldest] = isAdministrators && delegates.length > 0 ? delegates : isFair ? others : []
    if (oldest === undefined) throw new TooManyAttempts(HEARTBEAT_MS)
    this.close(oldest)
  }

  #keep<E extends EventName>(type: E, event: ControllerEvents[E]): void {
    this.#source.log.append({ type, at: event.at, reader: readerOf(type, event), facts: factsOf(type, event) })
    for (const stream of this.#streams) stream.notice(isAbout(event, stream.readerId))
  }

  #beat(): void {
    const { timetable, clock } = this.#source.context
    for (const stream of this.#streams) stream.beat()
    if (this.#streams.size > 0) timetable.set('event-stream', 'all', clock.now() + HEARTBEAT_MS)
  }

  /** Looks whether readers lost rights: this process gets no event of another one. */
  async #look(): Promise<void> {
    const { timetable, clock, storage } = this.#source.context
    if (this.#streams.size === 0) {
      this.#place = undefined
      return
    }
    timetable.set('event-stream', 'look', clock.now() + RIGHTS_LOOK_MS)
    const isConcerned = await storage.read(async (tx) => {
      const known = this.#place
      if (known !== undefined && isSamePoint(tx, known)) return false
      const changes = await changesAfter(tx, known)
      this.#place = placeOf(tx)
      return changes?.some(({ kind }) => traitsOf(kind).readers) ?? true
    })
    for (const stream of this.#streams) {
      if (isConcerned) stream.notice(true)
      stream.look()
    }
  }

  /** The place after an event; for an event that this process did not number, the beginning. */
  #placeOf(after: string | undefined, otherwise: number): { readonly place: number; readonly isKnown: boolean } {
    if (after === undefined) return { place: otherwise, isKnown: true }
    const [, number] = after.startsWith(`${this.#instance}.`) ? (/\.(\d{1,15})$/.exec(after) ?? []) : []
    if (number === undefined) return { place: 0, isKnown: false }
    return { place: Math.min(Number(number), this.#source.log.last), isKnown: true }
  }
}

/** Reports whether an event may have changed the rights of a reader: its identity was changed, or its API session ended. */
function isAbout(event: object, readerId: string | undefined): boolean {
  return (
    readerId !== undefined && (Reflect.get(event, 'identityId') === readerId || Reflect.get(event, 'id') === readerId)
  )
}
