import { z } from 'zod'
import type { AuditAuthor, FieldChange } from './audit-record.resource.ts'

/** An entity of an audit record; its name is that of the time of the record, null where it had none or the reader may not see it. */
interface AuditedEntity {
  readonly kind: string
  readonly id: string
  readonly name: string | null
}

/** An audit record as somebody may read it. */
export interface AuditEntry {
  /** By which later and earlier records are asked for; ids sort in the order of commits. */
  readonly id: string
  /** RFC 3339. */
  readonly at: string
  readonly type: string
  readonly entity: AuditedEntity | null
  /** The identity that did it; null for the controller and its operator. */
  readonly actor: { readonly id: string; readonly name: string | null } | null
  /** The proof by which it was let in; for administrators, of others only who they are. */
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
  /** The `before`, or the `after`, of the next page; null when there is none. A page may be short, or empty, and have a next one. */
  readonly next: string | null
}

/** How far the trail goes, by its last seal. An earlier seal that was kept elsewhere shows whether the chain was altered. */
export interface AuditHead {
  /** The number of the last seal; 0 before the first. */
  readonly number: number
  /** SHA-256 over that seal and, by it, over every one before. */
  readonly hash: string
  /** How many records are kept, and how many were removed by age or for room. */
  readonly records: number
  readonly removed: number
}

/** Which audit records are wanted. */
export interface AuditRequest {
  /** A condition in the filter language on `id`, `at`, `type`, `kind`, `entityId` and `actorId`. */
  readonly filter?: string | undefined
  /** The id of the entity that records are about. */
  readonly entity?: string | undefined
  /** The id of the identity that acted. */
  readonly actor?: string | undefined
  /** The id of a record: later ones are wanted, the earliest first; from the first on where it is empty. */
  readonly after?: string | undefined
  /** The id of a record: earlier ones are wanted, the latest first. */
  readonly before?: string | undefined
  /** How many at most, up to 500. Default: 100. */
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
