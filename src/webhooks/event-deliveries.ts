import { auditFilter } from '../audit/audit-reading.ts'
import { lastRecordId } from '../audit/audit-sealing.ts'
import { Lifetime } from '../concurrency/lifetime.ts'
import { logFailure } from '../context/background-failure.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { placeOf, StoreLevel } from '../context/store-level.ts'
import { auditRecords } from '../facts/audit/audit-record.resource.ts'
import { traitsOf } from '../facts/resources/index.ts'
import { eventCursors, eventDeliveries } from '../facts/webhooks/delivery.resource.ts'
import { ATTEMPT_MS, isWantedType, putOffOf, signedText } from '../facts/webhooks/delivery.rules.ts'
import { webhooks } from '../facts/webhooks/webhook.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals, matches } from '../kernel/filter/index.ts'
import { newCursor, type Outcome, type Subscriber } from './delivery-work.ts'
import { EventDelivery } from './event-delivery.ts'
import type { EventMessage } from './event-message.ts'
import { requireKnownTypes, signingKeysOf } from './webhooks.ts'

type Webhook = RecordOf<typeof webhooks>

/** Milliseconds between two looks for changes by other processes. */
const CHANGES_LOOK_MS = 2000
/** The same while there is no subscriber: another process may have been given a webhook, and be gone. */
const IDLE_LOOK_MS = 15_000
/** The same over a store that no other process can have opened: another controller of this one may write to it. */
const LONE_LOOK_MS = 60_000

/** The events that a subscriber of the host gets. */
export interface SubscriptionOptions {
  /** Types, as `entity.updated` or `entity.*`. Default: all. */
  readonly events?: readonly string[]
  /** A condition in the filter language of the audit trail, as `kind = "services"`. */
  readonly filter?: string
}

/** Takes an event. The event comes again when this rejects, or takes longer than 15 s. */
export type EventHandler = (event: EventMessage, signal: AbortSignal) => void | Promise<void>

/** The deliveries of this process: to webhooks, and to subscribers of its host. */
export class EventDeliveries {
  readonly #context: EngineContext
  readonly #processId: string
  readonly #closing = new AbortController()
  readonly #lifetime = new Lifetime('the controller is closed')
  readonly #deliveries = new Map<string, EventDelivery>()
  /** The deliveries at work, and the subscribers that need another look. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #again = new Set<string>()
  readonly #hosted = new Map<string, Subscriber>()
  readonly #level: StoreLevel
  #webhooks: readonly Webhook[] = []
  #looking: Promise<void> | undefined
  #isStarted = false

  constructor(context: EngineContext, processId: string) {
    this.#context = context
    this.#processId = processId
    const { storage, timetable, writes } = context
    this.#level = new StoreLevel(
      async (tx, changes) => {
        if (changes !== undefined && !changes.some(({ kind }) => kind === webhooks.name)) return
        this.#webhooks = (await tx.collection(webhooks).find({ where: equals('enabled', true) })).items
      },
      () => storage.read(async (tx) => placeOf(tx)),
    )
    writes.tell(({ changes }) => {
      if (changes.some(({ kind }) => isNews(kind))) this.#look()
    })
    timetable.onDue('event-delivery', async () => this.#look())
  }

  /** Delivers events to webhooks from now on. */
  start(): void {
    this.#isStarted = true
    this.#look()
  }

  /**
   * Sends a handler every event from now on, or from where the subscriber of the name stopped: at least once, in order
   * for one entity, in one process at a time. Answers the function that ends it in this process; the place is kept.
   *
   * @throws {ControllerError} INVALID_FILTER when the filter cannot be read.
   */
  async subscribe(name: string, handler: EventHandler, options: SubscriptionOptions = {}): Promise<() => void> {
    this.#lifetime.assertOpen()
    const id = `host:${name}`
    if (this.#hosted.has(id)) throw new TypeError(`subscribe: somebody is subscribed as '${name}' already`)
    requireKnownTypes(options.events ?? [])
    const subscriber = {
      id,
      webhookId: null,
      isWanted: wantedBy(options.events ?? [], options.filter ?? null),
      deliver: (event: EventMessage, closing: AbortSignal) => this.#tellHost(handler, event, closing),
    }
    this.#hosted.set(id, subscriber)
    const now = this.#context.clock.now()
    const end = () => {
      if (this.#hosted.get(id) === subscriber) this.#hosted.delete(id)
      this.#look()
    }
    try {
      await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
        if ((await tx.collection(eventCursors).get(id)) !== undefined) return
        await tx.collection(eventCursors).insert(newCursor(id, null, await lastRecordId(tx), now))
      })
    } catch (error) {
      end()
      throw error
    }
    this.#look()
    return end
  }

  /** Ends attempts that are under way, and lets other processes go on, which make the remaining deliveries. */
  close(): Promise<void> {
    return this.#lifetime.close(
      () => this.#closing.abort(),
      () => this.#looking,
      () => Promise.all(this.#running.values()),
      () => Promise.allSettled([...this.#deliveries.values()].map((delivery) => delivery.release())),
    )
  }

  /** Looks for work; once more when a look is under way already. */
  #look(): void {
    if (!this.#lifetime.isOpen || (!this.#isStarted && this.#hosted.size === 0)) return
    const look = async () => {
      try {
        await this.#context.storage.read((tx) => this.#level.reach(tx))
        this.#wakeAll()
      } catch (error) {
        logFailure(this.#context.logger, 'events could not be looked for, and are again', error)
      }
      const now = this.#context.clock.now()
      const isIdle = this.#deliveries.size === 0
      const isAlone = this.#context.storage.isVolatile === true
      const pause = isAlone ? LONE_LOOK_MS : isIdle ? IDLE_LOOK_MS : CHANGES_LOOK_MS
      const next = isAlone && isIdle ? undefined : now + pause
      if (this.#lifetime.isOpen) this.#context.timetable.set('event-delivery', 'look', next)
    }
    if (this.#looking !== undefined) this.#again.add('look')
    else {
      this.#looking = look().finally(() => {
        this.#looking = undefined
        if (this.#again.delete('look')) this.#look()
      })
    }
  }

  #wakeAll(): void {
    const wanted = new Map(this.#hosted)
    if (this.#isStarted) for (const webhook of this.#webhooks) wanted.set(webhook.id, this.#subscriberOf(webhook))
    for (const [id, delivery] of this.#deliveries) {
      if (wanted.has(id)) continue
      this.#deliveries.delete(id)
      this.#context.timetable.set('event-delivery', id, undefined)
      void delivery.release().catch(() => undefined)
    }
    for (const [id, subscriber] of wanted) {
      const known = this.#deliveries.get(id)
      if (known !== undefined) known.subscriber = subscriber
      else this.#deliveries.set(id, new EventDelivery(this.#context, this.#processId, subscriber))
      this.#wake(id)
    }
  }

  #wake(id: string): void {
    if (this.#running.has(id)) {
      this.#again.add(id)
      return
    }
    const run = this.#run(id).finally(() => {
      this.#running.delete(id)
      if (this.#again.delete(id) && this.#lifetime.isOpen) this.#wake(id)
    })
    this.#running.set(id, run)
  }

  /** Goes on until nothing is due. */
  async #run(id: string): Promise<void> {
    const { clock, logger, timetable } = this.#context
    while (this.#lifetime.isOpen) {
      const delivery = this.#deliveries.get(id)
      if (delivery === undefined) return
      try {
        const next = await delivery.round(this.#closing.signal)
        if (next === undefined) return timetable.set('event-delivery', id, undefined)
        if (next > clock.now()) return timetable.set('event-delivery', id, next)
      } catch (error) {
        logFailure(logger, 'events could not be delivered, and are tried again', error, { subscriber: id })
        return timetable.set('event-delivery', id, clock.now() + CHANGES_LOOK_MS)
      }
    }
  }

  #subscriberOf(webhook: Webhook): Subscriber {
    return {
      id: webhook.id,
      webhookId: webhook.id,
      isWanted: wantedBy(webhook.events, webhook.filter),
      deliver: (event, closing) => this.#post(webhook, event, closing),
    }
  }

  async #post(webhook: Webhook, event: EventMessage, closing: AbortSignal): Promise<Outcome> {
    const { clock, webhookEndpoints: endpoints } = this.#context
    const signal = endpoints.attemptSignal(closing, ATTEMPT_MS)
    try {
      const now = clock.now()
      const timestamp = Math.floor(now / 1000)
      const { type, timestamp: at, data } = event
      const body = JSON.stringify({ type, timestamp: at, data })
      const keys = await signingKeysOf(this.#context, webhook, now)
      const text = signedText(event.id, timestamp, body)
      const signatures = await Promise.all(keys.map(async (key) => `v1,${await endpoints.signature(key, text)}`))
      const headers = {
        'webhook-id': event.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures.join(' '),
      }
      const { status, retryAfter } = await endpoints.post(webhook.endpoint, { body, headers, signal })
      if (status >= 200 && status < 300) return { isDelivered: true }
      return { isDelivered: false, problem: `answered ${status}`, putOffMs: putOffOf(retryAfter, now) }
    } catch (error) {
      return { isDelivered: false, problem: problemOf(error, signal) }
    }
  }

  async #tellHost(handler: EventHandler, event: EventMessage, closing: AbortSignal): Promise<Outcome> {
    const signal = this.#context.webhookEndpoints.attemptSignal(closing, ATTEMPT_MS)
    const isOver = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    try {
      await Promise.race([(async () => handler(event, signal))(), isOver])
      return { isDelivered: true }
    } catch (error) {
      return { isDelivered: false, problem: problemOf(error, signal) }
    }
  }
}

/** Kinds of record whose change may make work here. */
function isNews(kind: string): boolean {
  const isOwn = kind === webhooks.name || kind === eventDeliveries.name || kind === auditRecords.name
  return isOwn || traitsOf(kind).audit !== 'none'
}

function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `no answer in ${ATTEMPT_MS / 1000} s`
  return error instanceof Error ? error.message : String(error)
}

function wantedBy(events: readonly string[], filter: string | null): Subscriber['isWanted'] {
  const where = filter === null ? undefined : auditFilter(filter)
  return (record) => isWantedType(record.type, events) && (where === undefined || matches(where, record))
}
