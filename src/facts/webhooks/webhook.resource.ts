import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Instant, Name, Text } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

const DEFINITION = {
  name: 'webhooks',
  singular: 'webhook',
  storeName: 'webhooks',
  permission: 'webhook',
  writable: {
    name: Name,
    endpoint: Text,
    events: z.array(z.string().max(128)).max(100).default([]),
    filter: z.string().max(8192).nullable().default(null),
    enabled: z.boolean().default(true),
  },
  system: {
    /** Sealed. */
    sealedSecret: z.string(),
    /** The former secret, sealed, which also signs until `formerUntil`. */
    sealedFormer: z.string().nullable(),
    /** The secrets before that one, sealed, which sign until their instants (epoch ms). */
    sealedEarlier: z.array(z.object({ sealed: z.string(), until: z.number() })).nullable(),
    secretAt: Instant,
    formerUntil: Instant.nullable(),
  },
  hidden: ['sealedSecret', 'sealedFormer', 'sealedEarlier'],
  undo: {
    sealedSecret: 'anew',
    sealedFormer: 'anew',
    sealedEarlier: 'anew',
    secretAt: 'anew',
    formerUntil: 'anew',
  },
  required: ['name', 'endpoint'],
  unique: ['name'],
  writeErrors: ['INVALID_FIELD', 'INVALID_FILTER'],
  operations: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
  adminOnly: ['list', 'get', 'create', 'replace', 'patch', 'delete'],
} as const satisfies ResourceDefinition

/** A foreign endpoint that receives events. */
export interface Webhooks extends Resource<typeof DEFINITION> {}
export const webhooks: Webhooks = defineResource(DEFINITION, {
  endpoint: 'Where events are posted, an https URL; http and inward addresses only where the host allows the address.',
  events:
    'The types of events that are sent: of the audit trail, as `entity.updated`, or `entity.*`; empty (the default) for all.',
  filter: 'A further condition in the filter language of the audit trail, as `kind = "services"`; null for none.',
  enabled:
    'Whether events are sent; true by default. Events that came while it is false are sent later, as far as the audit trail still holds them.',
  secretAt: 'Since when the secret is in use by which messages are signed, RFC 3339.',
  formerUntil: 'Until when the secret of before signs as well, RFC 3339; null where there is none.',
})
