import { z } from 'zod'

// The words stand here once more, so that typed clients load none of the rules behind them; the schema holds them together.
type AccessType = 'Dial' | 'Bind'
type GroupedKind = 'identities' | 'services' | 'edge-routers'
type EntityKind = GroupedKind | 'posture-checks'
type Grouping = 'role-attribute' | 'policy'
type LinkType = AccessType | 'edge-router' | 'service-edge-router'

/** Entities of one kind that are drawn as one. */
export interface GraphGroup {
  /** By which its members are asked for; it stays the same while the group does. */
  readonly key: string
  readonly kind: GroupedKind
  /** The role attributes that all members have, the first of them. */
  readonly roleAttributes: readonly string[]
  readonly roleAttributeCount: number
  readonly count: number
  /** It holds everybody who is in none of the others of its kind. */
  readonly isRest: boolean
}

/** Some members of one group are linked with some members of another one. */
export interface GraphLink {
  /** Places in `groups`. */
  readonly from: number
  readonly to: number
  readonly type: LinkType
  /** How many pairs of members are linked, of all pairs. */
  readonly pairs: number
  /** Places in `policies` of some of the policies. */
  readonly policies: readonly number[]
  readonly policyCount: number
  /** Every one of the policies asks for a state of the endpoint. */
  readonly isGuarded: boolean
}

/** A policy behind a link. */
export interface GraphPolicyName {
  readonly id: string
  readonly name: string
  readonly type: LinkType
  readonly isGuarded: boolean
}

/** Who reaches what, by groups: of what the caller may read. */
export interface NetworkGraph {
  readonly revision: number
  readonly groupBy: Grouping
  /** The kinds of entities and policies that the caller may read; the graph shows nothing of others. */
  readonly kinds: readonly string[]
  readonly groups: readonly GraphGroup[]
  readonly policies: readonly GraphPolicyName[]
  readonly links: readonly GraphLink[]
  /** How many links there are; more than `links` has where the smallest are left out. */
  readonly linkCount: number
}

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

/** The actions that some identities may take with some services, posture aside. */
export interface AccessMatrix {
  readonly identities: readonly GraphEntity[]
  readonly services: readonly GraphEntity[]
  /** The cells that are not empty. */
  readonly cells: readonly MatrixCell[]
  /** Where the next rows begin; null after the last. */
  readonly nextIdentities: string | null
  /** Where the next columns begin; null after the last. */
  readonly nextServices: string | null
}

/** The actions that one identity may take with one service, posture aside. */
export interface MatrixCell {
  /** Places in `identities` and `services`. */
  readonly identity: number
  readonly service: number
  readonly type: AccessType
  /** How many policies grant it. */
  readonly policyCount: number
  /** Every one of them asks for a state of the endpoint. */
  readonly isGuarded: boolean
}

/** An entity that was found by its name. */
export interface FoundName extends GraphEntity {
  /** The resource, for example `service-policies`. */
  readonly kind: string
  /** Some of the role attributes of what has any. */
  readonly roleAttributes: readonly string[]
  /** The group by role attributes that it is in, unless that is drawn with the rest; null for what is in none. */
  readonly group: string | null
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

const DEFAULT_GROUPS = 40
const MAX_GROUPS = 100
const DEFAULT_MEMBERS = 50
const MAX_MEMBERS = 200

/** How many members, or finds of one kind, an answer has at most. */
const Limit = z.int().min(1).max(MAX_MEMBERS).default(DEFAULT_MEMBERS)

/** The key of a group, as a graph has it. */
export const GroupKey = z.string().max(256)

/** Where a page begins: the cursor of the page before. */
export const PageCursor = z.string().max(4096)

/** A part of a name. */
export const PartOfName = z.string().max(256)

/** Which graph is wanted: what the members of a group have in common, and how many groups of each kind there are at most. */
export const GraphRequest = z.object({
  groupBy: z.enum(['role-attribute', 'policy']).default('role-attribute'),
  groups: z.int().min(2).max(MAX_GROUPS).default(DEFAULT_GROUPS),
})

/** Which page of the members of a group is wanted, of those whose name holds a text. */
export const MembersRequest = z.object({
  group: GroupKey,
  text: PartOfName.default(''),
  limit: Limit,
  cursor: PageCursor.optional(),
})

/** Which rows and columns of the matrix of two groups are wanted. */
export const MatrixRequest = z.object({
  identities: GroupKey,
  services: GroupKey,
  limit: Limit,
  identitiesAfter: PageCursor.optional(),
  servicesAfter: PageCursor.optional(),
})

/** A search by name. */
export const SearchRequest = z.object({ q: PartOfName, limit: Limit })
