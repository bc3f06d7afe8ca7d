import { z } from 'zod'
import { type DeliveryReport, DeliverySelection } from '../../facts/webhooks/delivery-questions.resource.ts'
import { webhooks } from '../../facts/webhooks/webhook.resource.ts'
import { crud } from '../../http/operations/crud.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

/** The standard operations on webhooks. */
export const webhookEntities = crud(webhooks)

const Undelivered = described(
  z.object({
    event: z.string(),
    attempts: z.int(),
    dueAt: z.iso.datetime().nullable(),
    problem: z.string().nullable(),
  }),
  {
    event: 'The id of its audit record.',
    attempts: 'How many attempts failed.',
    dueAt: 'When the next attempt is made, RFC 3339; null for a dead letter.',
    problem: 'Why the last attempt failed; null before the first.',
  },
)

const Report: z.ZodType<DeliveryReport, DeliveryReport> = described(
  z.object({
    delivered: z.int(),
    deliveredAt: z.iso.datetime().nullable(),
    failingSince: z.iso.datetime().nullable(),
    problem: z.string().nullable(),
    missedTo: z.string().nullable(),
    waitingCount: z.int(),
    deadCount: z.int(),
    waiting: z.array(Undelivered),
    dead: z.array(Undelivered),
  }),
  {
    delivered: 'How many events were delivered.',
    deliveredAt: 'When the last one was, RFC 3339; null before the first.',
    failingSince: 'Since when attempts fail, RFC 3339; null where the last one did not.',
    problem: 'Why the last attempt failed; null where it did not.',
    missedTo: 'The id of the last audit record that was removed before it could be delivered; null where none was.',
    waitingCount: 'How many events wait for a further attempt.',
    deadCount: 'How many dead letters there are.',
    waiting: 'The first 500 waiting deliveries.',
    dead: 'The first 500 dead letters.',
  },
)

const Selection = described(DeliverySelection, {
  events: 'The ids of the audit records of some dead letters; all of them where it is left out.',
})
const Count = described(z.object({ count: z.int() }), { count: 'How many dead letters it concerned.' })

/** The operations on the deliveries of a webhook. */
export const webhookDeliveryOperations = {
  secret: defineOperation(
    {
      route: 'POST /webhooks/{id}/secret',
      summary: 'Makes a new secret for a webhook and shows it, this once',
      description:
        'Messages are signed by each of the last four replaced secrets as well, for a day. A new webhook has a secret that nobody knows.',
      access: 'admin',
      data: described(z.object({ secret: z.string() }), {
        secret: 'The secret as Standard Webhooks writes it: `whsec_` and base64.',
      }),
    },
    async ({ engine, call, params }) => ({ data: await engine.webhookDeliveries.rotateSecret(call, params.id) }),
  ),
  show: defineOperation(
    {
      route: 'GET /webhooks/{id}/deliveries',
      summary: 'Tells how far a webhook was told, what waits, and its dead letters',
      access: 'admin',
      data: Report,
    },
    async ({ engine, params }) => ({ data: await engine.webhookDeliveries.deliveries(params.id) }),
  ),
  resend: defineOperation(
    {
      route: 'POST /webhooks/{id}/deliveries',
      summary: 'Sends dead letters of a webhook again',
      description: 'Each has as many attempts as at first. Some of them where `events` names them, else all.',
      access: 'admin',
      body: Selection,
      bodyOptional: true,
      data: Count,
    },
    async ({ engine, call, params, request }) => ({
      data: await engine.webhookDeliveries.resend(call, params.id, request),
    }),
  ),
  drop: defineOperation(
    {
      route: 'DELETE /webhooks/{id}/deliveries',
      summary: 'Drops dead letters of a webhook',
      description: 'Some of them where `events` names them, else all. They are gone for good.',
      access: 'admin',
      body: Selection,
      bodyOptional: true,
      data: Count,
    },
    async ({ engine, call, params, request }) => ({
      data: await engine.webhookDeliveries.drop(call, params.id, request),
    }),
  ),
}
