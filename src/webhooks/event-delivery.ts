import { Gate } from '../concurrency/gate.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { eventCursors, eventDeliveries } from '../facts/webhooks/delivery.resource.ts'
import { AT_ONCE, chanceOf, isDown, LEASE_MS, nextAttemptAt, ROUND_MS } from '../facts/webhooks/delivery.rules.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'
import {
  type Cursor,
  type Delivery,
  deliveriesOf,
  findWork,
  type Item,
  isHeldByAnother,
  type Outcome,
  type Subscriber,
  type Work,
} from './delivery-work.ts'

/** An event of a round, and the outcome. */
interface Settled {
  readonly item: Item
  readonly outcome: Outcome | 'put-aside'
}

/** Administrators see a problem; a longer text is cut. */
const PROBLEM_LENGTH = 300
/** Unwanted records after which the place of a subscriber is stored all the same. */
const UNWRITTEN_RECORDS = 1000

/**
 * Delivers events to one subscriber, from the audit trail by a cursor in the store. The cursor passes an event only in
 * the write that records its delivery or puts it aside. One process does so at a time, by a lease in the cursor.
 */
export class EventDelivery {
  readonly #context: EngineContext
  readonly #processId: string
  /** Unwanted records are passed over in memory for a while. */
  #passed = { position: '', count: 0 }
  #triedAt = 0
  /** The attempts of a round whose outcome is not stored yet. */
  #unsettled: readonly [Work, readonly Settled[]] | undefined
  subscriber: Subscriber

  constructor(context: EngineContext, processId: string, subscriber: Subscriber) {
    this.#context = context
    this.#processId = processId
    this.subscriber = subscriber
  }

  /**
   * Makes the attempts that are due, for some 30 s at most. Answers when to look again, epoch ms; undefined when only a new record
   * makes work.
   */
  async round(closing: AbortSignal): Promise<number | undefined> {
    const { clock, storage } = this.#context
    // The storage may have failed after events were delivered: they are not delivered again.
    await this.#settle()
    const startedAt = clock.now()
    const { subscriber } = this
    const known = { subscriber, processId: this.#processId, passedTo: this.#passed.position, triedAt: this.#triedAt }
    const work = await storage.read((tx) => findWork(tx, known, startedAt))
    if (typeof work === 'number' || work === undefined) return work
    if (work.chains.length === 0 && work.behind.length === 0 && work.position > this.#passed.position) {
      this.#passed = { position: work.position, count: this.#passed.count + work.looked }
    }
    const isIdle = work.chains.length === 0 && work.behind.length === 0
    if (isIdle && work.missedTo === work.cursor.missedTo && this.#passed.count < UNWRITTEN_RECORDS) {
      return work.looked > 0 ? startedAt : work.nextAt
    }
    if (!(await this.#hold(work.cursor, startedAt))) return startedAt + 1
    this.#unsettled = [work, await this.#attempt(work, closing, startedAt)]
    await this.#settle()
    return clock.now()
  }

  /** Lets another process go on at once. */
  async release(): Promise<void> {
    await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const cursor = await tx.collection(eventCursors).get(this.subscriber.id)
      if (cursor?.holder !== this.#processId) return
      await tx.collection(eventCursors).update({ ...cursor, holder: null, heldUntil: 0 })
    })
  }

  /** Takes the lease, or keeps it for another round; false where another process was faster. */
  async #hold(seen: Cursor, now: number): Promise<boolean> {
    if (seen.holder === this.#processId && seen.heldUntil - now > LEASE_MS / 2) return true
    return this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const cursor = await tx.collection(eventCursors).get(this.subscriber.id)
      const isAsSeen = cursor?.position === seen.position && cursor.holder === seen.holder
      if (cursor === undefined || !isAsSeen || isHeldByAnother(cursor, this.#processId, now)) return false
      return tx.collection(eventCursors).update({ ...cursor, holder: this.#processId, heldUntil: now + LEASE_MS })
    })
  }

  /** Makes the attempts of every subject one after the other, of several subjects at once. */
  async #attempt({ chains }: Work, closing: AbortSignal, startedAt: number): Promise<readonly Settled[]> {
    const { clock } = this.#context
    const gate = new Gate(AT_ONCE)
    const settled: Settled[] = []
    const run = async (chain: readonly Item[]) => {
      let isBlocked = false
      for (const item of chain) {
        const isOver = closing.aborted || clock.now() - startedAt >= ROUND_MS
        if (isBlocked || isOver) settled.push({ item, outcome: 'put-aside' })
        else {
          const outcome = await this.#deliver(item, closing)
          // An attempt that ends because the controller closes is no failure of the subscriber.
          const isCut = !outcome.isDelivered && closing.aborted
          settled.push({ item, outcome: isCut ? 'put-aside' : outcome })
          isBlocked = !outcome.isDelivered
        }
      }
    }
    await Promise.all(chains.map((chain) => gate.run(() => run(chain))))
    this.#triedAt = clock.now()
    return settled
  }

  async #deliver({ message }: Item, closing: AbortSignal): Promise<Outcome> {
    // Nothing is left to deliver: the record went by age or for room.
    if (message === undefined) return { isDelivered: true }
    return this.subscriber.deliver(message, closing)
  }

  /**
   * Stores the outcome of a round once, also if a write was done and failed. A process that took the lease meanwhile makes the attempts
   * again.
   */
  async #settle(): Promise<void> {
    if (this.#unsettled === undefined) return
    const [work, settled] = this.#unsettled
    const { clock, logger, writes } = this.#context
    const { id, webhookId } = this.subscriber
    await writes.run(SYSTEM_CALL, async (tx) => {
      const now = clock.now()
      const cursor = await tx.collection(eventCursors).get(id)
      if (cursor?.holder !== this.#processId || cursor.updatedAt !== work.cursor.updatedAt) return
      const delivered = settled.filter(({ outcome }) => outcome !== 'put-aside' && outcome.isDelivered).length
      const failed = settled.flatMap(({ outcome }) => (outcome === 'put-aside' || outcome.isDelivered ? [] : [outcome]))
      if (failed.length > 0 && cursor.failingSince === null) {
        logger.warn('a subscriber cannot be told of events', { subscriber: id, problem: failed[0]?.problem })
      }
      const lost = settled.flatMap(({ item }) => (item.message === undefined ? [item.recordId] : []))
      const isWorking = delivered > lost.length
      await tx.collection(eventCursors).update({
        ...cursor,
        position: work.position,
        heldUntil: now + LEASE_MS,
        // The instant names the round: two rounds of one millisecond have two.
        updatedAt: Math.max(now, cursor.updatedAt + 1),
        delivered: cursor.delivered + delivered - lost.length,
        ...(isWorking && { deliveredAt: now }),
        failuresInRow: isWorking ? 0 : cursor.failuresInRow + failed.length,
        failingSince: failed.length === 0 ? (isWorking ? null : cursor.failingSince) : (cursor.failingSince ?? now),
        problem: failed.at(-1)?.problem ?? (isWorking ? null : cursor.problem),
        missedTo: lost.at(-1) ?? work.missedTo,
      })
      this.#passed = { position: '', count: 0 }
      const behind = work.behind.map((item): Settled => ({ item, outcome: 'put-aside' }))
      for (const one of [...settled, ...behind]) await this.#settleOne(tx, one, webhookId, now)
      // A subscriber that was down and answers again gets waiting events at once.
      if (isWorking && isDown(cursor.failuresInRow)) await retryNow(tx, id, now)
    })
    this.#unsettled = undefined
  }

  async #settleOne(tx: WriteTransaction, { item, outcome }: Settled, webhookId: string | null, now: number) {
    const { known, recordId, subject } = item
    const deliveries = tx.collection(eventDeliveries)
    if (outcome !== 'put-aside' && outcome.isDelivered) {
      if (known !== undefined) await deliveries.delete(known.id)
      return
    }
    const { id: cursorId } = this.subscriber
    const fresh = { cursorId, webhookId, recordId, subject, isDead: false, attempts: 0, dueAt: now, problem: null }
    const before: Delivery = known ?? newRecord(deliveryId(cursorId, recordId), now, fresh)
    if (outcome === 'put-aside') {
      if (known === undefined) await deliveries.insert(before)
      return
    }
    const attempts = before.attempts + 1
    const chance = chanceOf(this.#context.digest.sha256(`${before.id} ${attempts}`))
    const dueAt = nextAttemptAt(attempts, now, chance, outcome.putOffMs)
    const after: Delivery = {
      ...before,
      attempts,
      updatedAt: now,
      dueAt: dueAt ?? now,
      isDead: dueAt === undefined,
      problem: outcome.problem.slice(0, PROBLEM_LENGTH),
    }
    if (known === undefined) await deliveries.insert(after)
    else await deliveries.update(after)
  }
}

/** The id of the delivery of a record to a subscriber. */
function deliveryId(cursorId: string, recordId: string): string {
  return `${cursorId}.${recordId}`
}

/** Makes due at `now` everything that waited before this round. */
async function retryNow(tx: WriteTransaction, cursorId: string, now: number): Promise<void> {
  const { items } = await tx.collection(eventDeliveries).find({ where: deliveriesOf(cursorId, false) })
  for (const one of items) {
    if (one.dueAt > now && one.updatedAt < now) await tx.collection(eventDeliveries).update({ ...one, dueAt: now })
  }
}
