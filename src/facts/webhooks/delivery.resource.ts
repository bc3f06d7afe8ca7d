import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const CURSOR_DEFINITION = {
  name: 'event-cursors',
  singular: 'event cursor',
  storeName: 'eventCursors',
  permission: 'webhook',
  writable: {},
  system: {
    webhookId: Id.nullable(),
    position: z.string(),
    holder: z.string().nullable(),
    heldUntil: Instant,
    delivered: z.int(),
    deliveredAt: Instant.nullable(),
    failuresInRow: z.int(),
    failingSince: Instant.nullable(),
    problem: z.string().nullable(),
    missedTo: z.string().nullable(),
  },
  required: [],
  indexed: ['webhookId'],
  references: { webhookId: { to: 'webhooks', onDelete: 'cascade' } },
  isWrittenByEndpoints: true,
  operations: [],
} as const satisfies ResourceDefinition

/** The position of a subscriber in the trail, and the process that delivers its events. The id is the webhook's, or `host:` and a name. */
export interface EventCursors extends Resource<typeof CURSOR_DEFINITION> {}
export const eventCursors: EventCursors = defineResource(CURSOR_DEFINITION, {
  webhookId: 'The id of the webhook; null for a subscriber of the host.',
  position: 'The id of the last audit record that was delivered, or put aside.',
  holder: 'The process that delivers; null while none does.',
  heldUntil: 'Until when no other process delivers, unless the holder lets go before.',
  delivered: 'How many events were delivered.',
  deliveredAt: 'When the last one was, RFC 3339; null before the first.',
  failuresInRow: 'How many attempts failed since the last that did not.',
  failingSince: 'When the first of those failed, RFC 3339; null where none did.',
  problem: 'Why the last attempt failed; null where it did not.',
  missedTo: 'The id of the last audit record that was removed before it could be delivered; null where none was.',
})

const DELIVERY_DEFINITION = {
  name: 'event-deliveries',
  singular: 'event delivery',
  storeName: 'eventDeliveries',
  permission: 'webhook',
  writable: {},
  system: {
    cursorId: z.string(),
    webhookId: Id.nullable(),
    recordId: z.string(),
    subject: z.string(),
    isDead: z.boolean(),
    attempts: z.int(),
    dueAt: Instant,
    problem: z.string().nullable(),
  },
  required: [],
  indexed: ['cursorId', 'webhookId'],
  references: { webhookId: { to: 'webhooks', onDelete: 'cascade' } },
  isWrittenByEndpoints: true,
  operations: [],
} as const satisfies ResourceDefinition

/** An event whose first delivery failed: it waits for the next attempt, or is kept as a dead letter. */
export interface EventDeliveries extends Resource<typeof DELIVERY_DEFINITION> {}
export const eventDeliveries: EventDeliveries = defineResource(DELIVERY_DEFINITION, {
  cursorId: 'The id of the cursor.',
  webhookId: 'The id of the webhook; null for a subscriber of the host.',
  recordId: 'The id of the audit record.',
  subject: 'The subject of the event: events of one subject are delivered in order.',
  isDead: 'True once no further attempt is made by itself.',
  attempts: 'How many attempts failed.',
  dueAt: 'When the next attempt is made, RFC 3339.',
  problem: 'Why the last attempt failed; null before the first.',
})
