import { z } from 'zod'
import { defineResource } from '../../kernel/declaration/define-resource.ts'
import { Id, Instant } from '../../kernel/declaration/fields.ts'
import type { Resource, ResourceDefinition } from '../../kernel/declaration/resource.ts'

/** The kinds of audit records. */
export const AUDIT_TYPES = [
  'entity.created',
  'entity.updated',
  'entity.deleted',
  'change.undone',
  'login.succeeded',
  'login.refused',
  'enrollment.completed',
  'request.refused',
  'service.refused',
  'access.requested',
  'access.decided',
  'operator.command',
  'audit.left-out',
  'audit.rebuilt',
] as const

export type AuditType = (typeof AUDIT_TYPES)[number]

/** The author of a change, and the proof of the author's login. */
export interface AuditAuthor {
  /**
   * `caller`: an identity with one of its API sessions; `anonymous`: a client whose credential was just judged; `operator`: a command on
   * the store; `system`: the controller or its host.
   */
  readonly by: 'caller' | 'anonymous' | 'operator' | 'system'
  /** The name of the identity at that time. */
  readonly name?: string | undefined
  readonly apiSessionId?: string | undefined
  /** The method of the login: `password`, `cert` or `ext-jwt`. */
  readonly method?: string | undefined
  /** The authenticator of the login; for `cert`, the certificate. */
  readonly authenticatorId?: string | undefined
  /** SHA-1 of the certificate of the login, 40 lower-case hex digits. */
  readonly fingerprint?: string | undefined
  /** The certificate authority or the external signer that vouched. */
  readonly trustAnchorId?: string | undefined
}

/** A field before and after; an absent side held the default of the field. */
export interface FieldChange {
  readonly before?: unknown
  readonly after?: unknown
}

/** The part of an audit record that the store does not filter by. */
export interface AuditContent {
  readonly author: AuditAuthor
  /** The remote address of the request. */
  readonly remoteAddress?: string
  readonly requestId?: string
  /** The name of the entity at that time. */
  readonly entityName?: string
  readonly changes?: Readonly<Record<string, FieldChange>>
  /** The reason of a refusal, or of the end of a session. */
  readonly reason?: string
  /** Further facts, by the type of the record. */
  readonly facts?: Readonly<Record<string, unknown>>
}

const RECORD_DEFINITION = {
  name: 'audit-records',
  singular: 'audit record',
  storeName: 'auditRecords',
  permission: 'audit',
  writable: {},
  system: {
    type: z.enum(AUDIT_TYPES),
    kind: z.string().nullable(),
    entityId: Id.nullable(),
    actorId: Id.nullable(),
    reader: z.string().nullable(),
    content: z.custom<AuditContent>(),
  },
  required: [],
  indexed: ['entityId'],
  isWrittenByEndpoints: true,
  isJournal: true,
  operations: [],
} as const satisfies ResourceDefinition

/** An act and its author. A record is written in the same write as its change, and never modified. */
export interface AuditRecords extends Resource<typeof RECORD_DEFINITION> {}
export const auditRecords: AuditRecords = defineResource(RECORD_DEFINITION, {
  type: 'The kind of event, for example `entity.updated`.',
  kind: 'The resource of the entity, for example `service-policies`; null where it is about none.',
  entityId: 'The id of the entity; null where it is about none.',
  actorId: 'The id of the identity that did it; null for the controller and its operator.',
  reader: 'The permission whose holders may read it; null for administrators alone.',
  content: 'The actor with its address, and the record before and after.',
})

/** A record in a seal, with the digest of its contents. */
export interface SealedRecord {
  readonly id: string
  readonly digest: string
}

const SEAL_DEFINITION = {
  name: 'audit-seals',
  singular: 'audit seal',
  storeName: 'auditSeals',
  permission: 'audit',
  writable: {},
  system: {
    number: z.int(),
    records: z.custom<readonly SealedRecord[]>(),
    bytes: z.int(),
    firstKept: z.int(),
    removed: z.int(),
    previous: z.string(),
    hash: z.string(),
  },
  required: [],
  isWrittenByEndpoints: true,
  isJournal: true,
  operations: [],
} as const satisfies ResourceDefinition

/** A link of the chain: the digests of some records in the order of their commits, and the hash of the previous seal. */
export interface AuditSeals extends Resource<typeof SEAL_DEFINITION> {}
export const auditSeals: AuditSeals = defineResource(SEAL_DEFINITION, {
  number: 'One more than that of the seal before; the first is 1.',
  records: 'The ids of the sealed records, each with the digest of what it says.',
  bytes: 'The bytes of the sealed records.',
  firstKept: 'The number of the first seal that is kept: those before it were removed by age or for room.',
  removed: 'How many records were removed by age or for room before this seal.',
  previous: 'The hash of the seal before.',
  hash: 'SHA-256 of the seal, over the hash of the one before.',
})

const STATE_DEFINITION = {
  name: 'audit-states',
  singular: 'audit state',
  storeName: 'auditStates',
  permission: 'audit',
  writable: {},
  system: {
    sealed: z.string(),
    seals: z.int(),
    hash: z.string(),
    records: z.int(),
    bytes: z.int(),
    firstKept: z.int(),
    removed: z.int(),
    removedTo: z.string().nullable(),
    keptSince: Instant.nullable(),
  },
  required: [],
  operations: [],
} as const satisfies ResourceDefinition

/** The end of the chain: one record, under the id `chain`. */
export interface AuditStates extends Resource<typeof STATE_DEFINITION> {}
export const auditStates: AuditStates = defineResource(STATE_DEFINITION, {
  sealed: 'The id of the last sealed record; empty before the first.',
  seals: 'The number of the last seal.',
  hash: 'The hash of the last seal.',
  records: 'How many sealed records are kept.',
  bytes: 'The bytes of the sealed records that are kept.',
  firstKept: 'The number of the first seal that is kept.',
  removed: 'How many records were removed by age or for room.',
  removedTo: 'The id of the last record that was removed; null where none was.',
  keptSince: 'When the first seal that is kept was made, RFC 3339; null before the first.',
})
