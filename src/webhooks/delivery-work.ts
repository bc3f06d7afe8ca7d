import { CHAIN, recordsAfter, recordsOf } from '../audit/audit-sealing.ts'
import { grouped } from '../base/collections.ts'
import { earlier } from '../base/time.ts'
import { type auditRecords, auditStates } from '../facts/audit/audit-record.resource.ts'
import { eventCursors, eventDeliveries } from '../facts/webhooks/delivery.resource.ts'
import { MOST_WAITING, TAKEN_AT_ONCE, takenNow, trialAt } from '../facts/webhooks/delivery.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter } from '../kernel/filter/index.ts'
import type { DeliveryFigures } from '../network/gauges.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import { type EventMessage, eventMessages, subjectOf } from './event-message.ts'

type AuditRecord = RecordOf<typeof auditRecords>
export type Cursor = RecordOf<typeof eventCursors>
export type Delivery = RecordOf<typeof eventDeliveries>

/** The outcome of an attempt; `putOffMs` is how long the subscriber asks to be left alone. */
export type Outcome =
  | { readonly isDelivered: true }
  | { readonly isDelivered: false; readonly problem: string; readonly putOffMs?: number }

/** A receiver of events. */
export interface Subscriber {
  /** The id of its cursor. */
  readonly id: string
  readonly webhookId: string | null
  isWanted(record: AuditRecord): boolean
  /** Makes one attempt. Never rejects; the signal says that the controller closes. */
  deliver(event: EventMessage, closing: AbortSignal): Promise<Outcome>
}

/** An event of a round: an earlier attempt failed, or it is new. */
export interface Item {
  readonly message: EventMessage | undefined
  readonly recordId: string
  readonly subject: string
  readonly known: Delivery | undefined
}

/** The work that a subscriber has now. */
export interface Work {
  readonly cursor: Cursor
  /** Events in the order of each subject. */
  readonly chains: readonly (readonly Item[])[]
  /** New events behind a waiting event of the same subject. */
  readonly behind: readonly Item[]
  /** The last of the new records that were looked at. */
  readonly position: string
  readonly missedTo: string | null
  /** How many new records were looked at. */
  readonly looked: number
  /** Epoch ms; undefined where only a new event makes work. */
  readonly nextAt: number | undefined
}

/** Facts about a subscriber that the process knows beside the store. */
interface Known {
  readonly subscriber: Subscriber
  readonly processId: string
  /** No record up to this one is wanted, though the cursor does not say so yet. */
  readonly passedTo: string
  /** Epoch ms of the last attempt; 0 before the first. */
  readonly triedAt: number
}

/**
 * Finds the work for a subscriber at `now` (epoch ms). Answers an instant while another process holds the subscriber
 * until then, and undefined for an unknown subscriber.
 */
export async function findWork(
  tx: ReadTransaction,
  { subscriber, processId, passedTo, triedAt }: Known,
  now: number,
): Promise<Work | number | undefined> {
  const { id } = subscriber
  const cursor = await tx.collection(eventCursors).get(id)
  if (cursor === undefined) return undefined
  if (isHeldByAnother(cursor, processId, now)) return cursor.heldUntil
  const deliveries = tx.collection(eventDeliveries)
  const { items: waiting } = await deliveries.find({
    where: deliveriesOf(id, false),
    orderBy: BY_RECORD,
    limit: MOST_WAITING + TAKEN_AT_ONCE,
  })
  const { totalCount: dead } = await deliveries.find({ where: deliveriesOf(id, true), limit: 0 })
  const load = { waiting: waiting.length, dead, failuresInRow: cursor.failuresInRow, triedAt }
  const count = takenNow(load, now)
  const position = passedTo > cursor.position ? passedTo : cursor.position
  const removedTo = (await tx.collection(auditStates).get(CHAIN))?.removedTo ?? null
  const records = count === 0 ? [] : await recordsAfter(tx, position, count)
  const wanted = records.filter((record) => subscriber.isWanted(record))
  const { due, blocked, nextAt } = dueOf(waiting, now)
  const fresh = wanted.filter((record) => !blocked.has(subjectOf(record)))
  const behind = wanted.filter((record) => blocked.has(subjectOf(record)))
  const isTrialLater = count === 0 && waiting.length < MOST_WAITING
  return {
    cursor,
    chains: await chainsOf(tx, due, fresh),
    behind: behind.map((record) => newItem(record, undefined)),
    position: records.at(-1)?.id ?? position,
    missedTo: removedTo !== null && removedTo > position ? removedTo : cursor.missedTo,
    looked: records.length,
    nextAt: earlier(nextAt, isTrialLater ? trialAt(load) : undefined),
  }
}

/** Reports whether another process delivers to a subscriber at `now` (epoch ms). */
export function isHeldByAnother({ holder, heldUntil }: Cursor, processId: string, now: number): boolean {
  return holder !== null && holder !== processId && heldUntil > now
}

/** The deliveries of a subscriber that were given up, or that wait. */
export function deliveriesOf(cursorId: string, isDead: boolean): Filter {
  return both(equals('cursorId', cursorId), equals('isDead', isDead)) ?? equals('cursorId', cursorId)
}

const BY_RECORD = [{ field: 'recordId', kind: 'string', direction: 'asc' }] as const

/** Counts the failed deliveries at `now` (epoch ms); both counts have bounds, by the number of webhooks. */
export async function deliveryFigures(tx: ReadTransaction, now: number): Promise<DeliveryFigures> {
  const { items: cursors } = await tx.collection(eventCursors).find()
  if (cursors.length === 0) return { failing: 0, failingMs: 0, waiting: 0, dead: 0 }
  const count = async (isDead: boolean) =>
    (await tx.collection(eventDeliveries).find({ where: equals('isDead', isDead), limit: 0 })).totalCount
  const since = cursors.flatMap(({ failingSince }) => (failingSince === null ? [] : [failingSince]))
  const failingMs = since.length === 0 ? 0 : Math.max(0, now - Math.min(...since))
  return { failing: since.length, failingMs, waiting: await count(false), dead: await count(true) }
}

/** The first cursor of a subscriber, which gets the records after `position`. */
export function newCursor(id: string, webhookId: string | null, position: string, now: number): Cursor {
  return newRecord(id, now, {
    webhookId,
    position,
    holder: null,
    heldUntil: 0,
    delivered: 0,
    deliveredAt: null,
    failuresInRow: 0,
    failingSince: null,
    problem: null,
    missedTo: null,
  })
}

/** The waiting subjects: all events of each subject whose first event is due, and the subjects that are not due yet. */
function dueOf(waiting: readonly Delivery[], now: number) {
  const bySubject = grouped(waiting, ({ subject }) => subject)
  const due: (readonly Delivery[])[] = []
  const blocked = new Set<string>()
  let nextAt: number | undefined
  for (const [subject, ones] of bySubject) {
    const head = ones[0]
    if (head !== undefined && head.dueAt <= now) due.push(ones)
    else {
      blocked.add(subject)
      nextAt = earlier(nextAt, head?.dueAt)
    }
  }
  return { due, blocked, nextAt }
}

/** The events of this round, in order for each subject: waiting events before new ones. */
async function chainsOf(
  tx: ReadTransaction,
  due: readonly (readonly Delivery[])[],
  fresh: readonly AuditRecord[],
): Promise<readonly (readonly Item[])[]> {
  const known = new Map(due.flat().map((delivery) => [delivery.recordId, delivery]))
  const records = [...(await recordsOf(tx, [...known.keys()])), ...fresh]
  const messages = new Map((await eventMessages(tx, records)).map((message) => [message.data.id, message]))
  const waiting = due.flat().map((one) => ({
    message: messages.get(one.recordId),
    recordId: one.recordId,
    subject: one.subject,
    known: one,
  }))
  const items: readonly Item[] = [...waiting, ...fresh.map((record) => newItem(record, messages.get(record.id)))]
  return [...grouped(items, ({ subject }) => subject).values()]
}

function newItem(record: AuditRecord, message: EventMessage | undefined): Item {
  return { message, recordId: record.id, subject: subjectOf(record), known: undefined }
}
