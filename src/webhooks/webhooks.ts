import { auditFilter } from '../audit/audit-reading.ts'
import { lastRecordId } from '../audit/audit-sealing.ts'
import { invalidField, notFound, unacceptableField } from '../base/errors.ts'
import { DAY_MS, instantText } from '../base/time.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { AUDIT_TYPES } from '../facts/audit/audit-record.resource.ts'
import { eventCursors, eventDeliveries } from '../facts/webhooks/delivery.resource.ts'
import { isWantedType } from '../facts/webhooks/delivery.rules.ts'
import {
  type DeliveryReport,
  DeliverySelection,
  type DeliverySelectionRequest,
} from '../facts/webhooks/delivery-questions.resource.ts'
import { type Webhooks, webhooks } from '../facts/webhooks/webhook.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { deliveriesOf, newCursor } from './delivery-work.ts'

type Webhook = RecordOf<typeof webhooks>

/** Webhooks of a network: each of them costs every change a message. */
const MOST_WEBHOOKS = 100
/** Milliseconds for which a secret that was replaced signs as well, so that receivers can change theirs meanwhile. */
const OVERLAP_MS = DAY_MS
/** Replaced secrets that sign at once: a caller whose answer was lost asks again, and the receiver still knows an earlier one. */
const MOST_REPLACED = 4
/** Characters of a secret before its prefix and its encoding: 260 bits. */
const SECRET_LENGTH = 52
/** Deliveries that one answer shows. */
const SHOWN = 500

/** The particular rules of webhooks: their URL and their filter have to be usable, and the first event is that of their creation. */
export const webhookBehaviour: Behaviour<Webhooks> = {
  resource: webhooks,

  async prepare(context, _call, request) {
    const { input, id, now } = request
    const problem = input.endpoint === undefined ? undefined : context.webhookEndpoints.refusal(input.endpoint)
    if (problem !== undefined) throw unacceptableField('endpoint', `endpoint ${problem}`, input.endpoint)
    if (input.filter) auditFilter(input.filter)
    requireKnownTypes(input.events ?? [])
    if (request.kind !== 'create') return undefined
    const secret = await newSecret(context, id)
    return {
      system: {
        sealedSecret: secret.sealed,
        sealedFormer: null,
        sealedEarlier: null,
        secretAt: now,
        formerUntil: null,
      },
      dependents: async (tx) => {
        await tx.collection(eventCursors).insert(newCursor(id, id, await lastRecordId(tx), now))
      },
    }
  },

  async guard(_context, tx, _call, change) {
    if (change.kind === 'create') {
      const { totalCount } = await tx.collection(webhooks).find({ limit: 0 })
      if (totalCount >= MOST_WEBHOOKS) throw invalidField('name', `there are ${MOST_WEBHOOKS} webhooks already`)
    }
    if (change.after === undefined) return undefined
    return { ...change.after, filter: change.after.filter || null }
  },
}

/** Refuses unknown types of events. Error: `COULD_NOT_VALIDATE` naming `events`. */
export function requireKnownTypes(events: readonly string[]): void {
  const unknown = events.find((entry) => !AUDIT_TYPES.some((type) => isWantedType(type, [entry])))
  if (unknown === undefined) return
  throw invalidField('events', `no event is of the type '${unknown}'; types are ${AUDIT_TYPES.join(', ')}`, unknown)
}

async function newSecret({ random, sealer }: EngineContext, webhookId: string) {
  // Base64 of text, as the convention writes secrets.
  const secret = `${SECRET_PREFIX}${btoa(random.base32(SECRET_LENGTH))}`
  return { secret, sealed: await sealer.seal(secret, purposeOf(webhookId)) }
}

const SECRET_PREFIX = 'whsec_'

function purposeOf(webhookId: string): string {
  return `webhook ${webhookId}`
}

/** The keys that sign messages of a webhook at `now` (epoch ms), as bytes; the present one comes first. */
export async function signingKeysOf(
  { sealer }: EngineContext,
  webhook: Webhook,
  now: number,
): Promise<readonly Uint8Array[]> {
  const present = { sealed: webhook.sealedSecret }
  return Promise.all(
    [present, ...replacedSecrets(webhook, now)].map(async ({ sealed }) => {
      const secret = await sealer.open(sealed, purposeOf(webhook.id))
      return new TextEncoder().encode(atob(secret.slice(SECRET_PREFIX.length)))
    }),
  )
}

/** The replaced secrets that still sign at `now` (epoch ms), sealed; the latest first. */
function replacedSecrets({ sealedFormer, formerUntil, sealedEarlier }: Webhook, now: number) {
  const former = sealedFormer !== null && formerUntil !== null ? [{ sealed: sealedFormer, until: formerUntil }] : []
  return [...former, ...(sealedEarlier ?? [])].filter(({ until }) => until > now)
}

/** The secrets of webhooks, and their failed deliveries. */
export class WebhookService {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Makes a new secret for a webhook and answers it, this once. Each of the last four that it replaces signs as well for a day after its
   * replacement.
   *
   * @throws {ControllerError} NOT_FOUND when there is no webhook of the id.
   */
  async rotateSecret(call: Call, id: string): Promise<{ readonly secret: string }> {
    readId(id)
    const { secret, sealed } = await newSecret(this.#context, id)
    await this.#context.writes.run(call, async (tx) => {
      const known = await tx.collection(webhooks).get(id)
      if (known === undefined) throw notFound('webhook', id)
      const now = this.#context.clock.now()
      await tx.collection(webhooks).update({
        ...known,
        updatedAt: now,
        sealedSecret: sealed,
        sealedFormer: known.sealedSecret,
        sealedEarlier: replacedSecrets(known, now).slice(0, MOST_REPLACED - 1),
        secretAt: now,
        formerUntil: now + OVERLAP_MS,
      })
    })
    return { secret }
  }

  /**
   * Shows the deliveries of a webhook: its place in the trail, events that wait for another attempt, and its dead
   * letters, 500 of each at most.
   *
   * @throws {ControllerError} NOT_FOUND when there is no webhook of the id.
   */
  async deliveries(id: string): Promise<DeliveryReport> {
    readId(id)
    return this.#context.storage.read(async (tx) => {
      const cursor = await tx.collection(eventCursors).get(id)
      if (cursor === undefined) throw notFound('webhook', id)
      const find = async (isDead: boolean) => {
        const where = deliveriesOf(id, isDead)
        const { items, totalCount } = await tx.collection(eventDeliveries).find({ where, limit: SHOWN })
        const shown = items.map(({ recordId, attempts, dueAt, problem }) => ({
          event: recordId,
          attempts,
          dueAt: isDead ? null : instantText(dueAt),
          problem,
        }))
        return { shown, totalCount }
      }
      const [waiting, dead] = [await find(false), await find(true)]
      const { delivered, deliveredAt, failingSince, problem, missedTo } = cursor
      return {
        delivered,
        deliveredAt: deliveredAt === null ? null : instantText(deliveredAt),
        failingSince: failingSince === null ? null : instantText(failingSince),
        problem,
        missedTo,
        waitingCount: waiting.totalCount,
        deadCount: dead.totalCount,
        waiting: waiting.shown,
        dead: dead.shown,
      }
    })
  }

  /**
   * Sends dead letters of a webhook again, some or all: each has as many attempts as at first. Answers how many.
   *
   * @throws {ControllerError} NOT_FOUND when there is no webhook of the id.
   */
  resend(call: Call, id: string, request: DeliverySelectionRequest = {}): Promise<{ readonly count: number }> {
    return this.#eachDead(call, id, request, (now) => ({ isDead: false, attempts: 0, dueAt: now, updatedAt: now }))
  }

  /**
   * Drops dead letters of a webhook, some or all. Answers how many.
   *
   * @throws {ControllerError} NOT_FOUND when there is no webhook of the id.
   */
  drop(call: Call, id: string, request: DeliverySelectionRequest = {}): Promise<{ readonly count: number }> {
    return this.#eachDead(call, id, request, () => undefined)
  }

  async #eachDead(
    call: Call,
    id: string,
    request: DeliverySelectionRequest,
    change: (now: number) => Partial<RecordOf<typeof eventDeliveries>> | undefined,
  ): Promise<{ readonly count: number }> {
    readId(id)
    const { events } = readRequest(DeliverySelection, request)
    return this.#context.writes.run(call, async (tx) => {
      if ((await tx.collection(webhooks).get(id)) === undefined) throw notFound('webhook', id)
      const { items } = await tx.collection(eventDeliveries).find({ where: deliveriesOf(id, true) })
      const chosen = items.filter(({ recordId }) => events === undefined || events.includes(recordId))
      for (const one of chosen) {
        const changed = change(this.#context.clock.now())
        if (changed === undefined) await tx.collection(eventDeliveries).delete(one.id)
        else await tx.collection(eventDeliveries).update({ ...one, ...changed })
      }
      return { count: chosen.length }
    })
  }
}
