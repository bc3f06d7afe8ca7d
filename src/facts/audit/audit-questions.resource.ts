import { z } from 'zod'
import type { AuditAuthor, FieldChange } from './audit-record.resource.ts'

/**
 * An entity of an audit record. Its name is from the time of the record; null for an entity without a name, and for a reader who may not
 * see it.
 */
interface AuditedEntity {
  readonly kind: string
  readonly id: string
  readonly name: string | null
}

/** An audit record as a reader may see it. */
export interface AuditEntry {
  /** The position for requests of earlier and later records; ids sort in the order of commits. */
  readonly id: string
  /** RFC 3339. */
  readonly at: string
  readonly type: string
  readonly entity: AuditedEntity | null
  /** The acting identity; null for the controller and its operator. */
  readonly actor: { readonly id: string; readonly name: string | null } | null
  /** The proof of the author's login. Only administrators see it in full; other readers see only the identity. */
  readonly author: AuditAuthor | null
  readonly remoteAddress: string | null
  readonly requestId: string | null
  readonly reason: string | null
  readonly changes: Readonly<Record<string, FieldChange>>
  readonly facts: Readonly<Record<string, unknown>>
}

/** A page of the trail. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** The `before` or `after` of the next page; null on the last page. A short or empty page may have a next page. */
  readonly next: string | null
}

/** The end of the trail by its last seal. A copy of an earlier seal, kept elsewhere, reveals changes of the chain. */
export interface AuditHead {
  /** The number of the last seal; 0 before the first. */
  readonly number: number
  /** SHA-256 over that seal, and thereby over every earlier seal. */
  readonly hash: string
  /** The numbers of kept records, and of records that were removed by age or for space. */
  readonly records: number
  readonly removed: number
}

/** A request for audit records. */
export interface AuditRequest {
  /** A condition in the filter language on `id`, `at`, `type`, `kind`, `entityId` and `actorId`. */
  readonly filter?: string | undefined
  /** The id of the entity of the records. */
  readonly entity?: string | undefined
  /** The id of the identity that acted. */
  readonly actor?: string | undefined
  /** The id of a record: later records are answered, the earliest first. Empty text means all records. */
  readonly after?: string | undefined
  /** The id of a record: earlier records are answered, the latest first. */
  readonly before?: string | undefined
  /** The most records to answer, up to 500. Default: 100. */
  readonly limit?: number | undefined
}

/** The schema of the request. */
export const AuditPageRequest = z.object({
  filter: z.string().max(8192).optional(),
  entity: z.string().max(256).optional(),
  actor: z.string().max(256).optional(),
  after: z.string().max(64).optional(),
  before: z.string().max(64).optional(),
  limit: z.int().min(1).max(500).default(100),
})
