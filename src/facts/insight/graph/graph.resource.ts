import { z } from 'zod'

// The kinds are repeated here, so that typed clients load none of the rules behind them. The schema keeps both lists equal.
type GroupedKind = 'identities' | 'services' | 'edge-routers'
type EntityKind = GroupedKind | 'posture-checks'

/** An entity by id and name. */
export interface GraphEntity {
  readonly id: string
  readonly name: string
}

/** A member of a group. */
export interface GraphMember extends GraphEntity {
  /** Its connection state; null for entities that never connect. */
  readonly status: 'online' | 'offline' | 'unknown' | null
}

/** A page of the members of a group, by name. */
export interface GraphMembers {
  /** The number of members of the group. */
  readonly count: number
  readonly members: readonly GraphMember[]
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null
}

/** An entity that was found by its name. */
export interface FoundName extends GraphEntity {
  /** The resource, for example `service-policies`. */
  readonly kind: string
  /** Some of its role attributes, if it has any. */
  readonly roleAttributes: readonly string[]
}

/** A role attribute that was found by its name. */
export interface FoundAttribute {
  readonly kind: EntityKind
  readonly roleAttribute: string
  /** The number of entities of the kind with the attribute. */
  readonly count: number
}

/** Found names of entities that the caller may read. Names that begin with the text come first. */
export interface FoundNames {
  readonly entities: readonly FoundName[]
  readonly roleAttributes: readonly FoundAttribute[]
  /** True when names that do not begin with the text were left unsearched. */
  readonly isPartial: boolean
}

const DEFAULT_MEMBERS = 50
const MAX_MEMBERS = 200

/** The most members, or results of one kind, in an answer. */
const Limit = z.int().min(1).max(MAX_MEMBERS).default(DEFAULT_MEMBERS)

/** The start of a page: the cursor of the previous page. */
export const PageCursor = z.string().max(4096)

/** A part of a name. */
export const PartOfName = z.string().max(256)

/** A search by name. */
export const SearchRequest = z.object({ q: PartOfName, limit: Limit })
