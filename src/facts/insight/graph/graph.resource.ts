import { z } from 'zod'

// The words stand here once more, so that typed clients load none of the rules behind them; the schema holds them together.
type GroupedKind = 'identities' | 'services' | 'edge-routers'
type EntityKind = GroupedKind | 'posture-checks'

/** An entity by id and name. */
export interface GraphEntity {
  readonly id: string
  readonly name: string
}

/** A member of a group. */
export interface GraphMember extends GraphEntity {
  /** Whether it is connected; null for what never is. */
  readonly status: 'online' | 'offline' | 'unknown' | null
}

/** A page of the members of a group, by name. */
export interface GraphMembers {
  /** How many members the group has. */
  readonly count: number
  readonly members: readonly GraphMember[]
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** An entity that was found by its name. */
export interface FoundName extends GraphEntity {
  /** The resource, for example `service-policies`. */
  readonly kind: string
  /** Some of the role attributes of what has any. */
  readonly roleAttributes: readonly string[]
}

/** A role attribute that was found by its name. */
export interface FoundAttribute {
  readonly kind: EntityKind
  readonly roleAttribute: string
  /** How many entities of the kind have it. */
  readonly count: number
}

/** Names that were found, of entities that the caller may read: those that begin with the text come first. */
export interface FoundNames {
  readonly entities: readonly FoundName[]
  readonly roleAttributes: readonly FoundAttribute[]
  /** There are names that do not begin with the text and that nobody looked at. */
  readonly isPartial: boolean
}

const DEFAULT_MEMBERS = 50
const MAX_MEMBERS = 200

/** How many members, or finds of one kind, an answer has at most. */
const Limit = z.int().min(1).max(MAX_MEMBERS).default(DEFAULT_MEMBERS)

/** Where a page begins: the cursor of the page before. */
export const PageCursor = z.string().max(4096)

/** A part of a name. */
export const PartOfName = z.string().max(256)

/** A search by name. */
export const SearchRequest = z.object({ q: PartOfName, limit: Limit })
