import { z } from 'zod'
import { IdOrName } from '../../access/access-questions.resource.ts'
import { PageCursor, PartOfName } from '../graph/graph.resource.ts'

// The types are repeated here, so that typed clients load none of the rules behind them. The schema keeps both lists equal.
type AccessType = 'Dial' | 'Bind'

interface Named {
  readonly id: string
  readonly name: string
}

/** A service that an identity reaches, or an identity that reaches a service. */
export interface Reached extends Named {
  readonly types: readonly AccessType[]
  /** The service policies that grant it, posture and edge routers aside. */
  readonly policies: readonly (Named & { readonly type: AccessType; readonly isGuarded: boolean })[]
  /** The connection state of an identity; null for services. */
  readonly status: 'online' | 'offline' | 'unknown' | null
}

/** A page of the entities that an entity reaches or is reached by, by name. */
export interface Reach {
  readonly kind: 'identities' | 'services'
  readonly entity: Named
  /** The numbers of entities that it reaches or is reached by, by type. */
  readonly counts: { readonly dial: number; readonly bind: number }
  readonly reached: readonly Reached[]
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null
}

/** A group of entities of one kind that is drawn as one; or one entity, in a scope with few entities. */
export interface MapGroup {
  /** The scope of its members, for GET /access-map and GET /access-map/members; of an entity, the scope that it was found in. */
  readonly scope: string
  /** Role attributes, the most frequent first. Every member has at least one of them. */
  readonly roleAttributes: readonly string[]
  readonly count: number
  readonly isRest: boolean
  /** Null for a group. */
  readonly entity: Named | null
}

/** A property by which a kind can be divided: role attributes that hardly any entity has together. */
export interface MapProperty {
  /** The most frequent of them. Any of them asks for the property. */
  readonly roleAttributes: readonly string[]
  readonly roleAttributeCount: number
  /** The number of entities that have one of them. */
  readonly count: number
}

/** One kind in a map. */
export interface MapKind {
  readonly count: number
  readonly groups: readonly MapGroup[]
  readonly properties: readonly MapProperty[]
  /** The place of the property by which the groups are made; -1 for entities, and where no property divides. */
  readonly property: number
}

/** A policy in a map: the groups with members that it selects, and how many members. */
export interface MapPolicy extends Named {
  readonly isGuarded: boolean
  readonly identities: readonly { readonly group: number; readonly count: number }[]
  readonly services: readonly { readonly group: number; readonly count: number }[]
}

/** The dial or bind rights of a network, in a few groups. */
export interface AccessMap {
  readonly revision: number
  readonly type: AccessType
  readonly identities: MapKind
  readonly services: MapKind
  readonly links: readonly {
    /** Positions in the groups of identities and of services. */
    readonly from: number
    readonly to: number
    readonly pairs: number
    readonly policies: readonly Named[]
    readonly policyCount: number
    readonly isGuarded: boolean
  }[]
  /** The policies that grant most pairs, as far as they were asked for. */
  readonly policies: readonly MapPolicy[]
  /** The number of policies that grant any pair. */
  readonly policyCount: number
}

/** The kinds of findings, in the order of their importance to an operator. */
export const FINDING_KINDS = [
  'edge-routers-offline',
  'clock-behind',
  'edge-router-clocks',
  'backups-old',
  'authorities-ending',
  'services-without-terminators',
  'services-without-edge-routers',
  'certificates-ending',
  'identity-certificates-ending',
  'administrators-without-second-factor',
  'identities-not-seen',
  'services-without-identities',
  'identities-without-services',
  'identities-without-edge-routers',
  'policies-without-effect',
  'policies-over',
  'policies-unused',
  'edge-routers-behind',
  'invitations-ended',
  'invitations-ending',
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

/** Entities that are probably configured by mistake. */
export interface Finding {
  readonly finding: FindingKind
  readonly count: number
  /** The number of entities that were judged: 0 where there is nothing that could be found. */
  readonly judged: number
  /** The first entities by name, each with its resource, and the instant and the words that say more of it. */
  readonly entities: readonly (Named & {
    readonly kind: string
    /** When it ends, ended, or was seen last, RFC 3339; null for a finding without an instant. */
    readonly at: string | null
    readonly detail: string | null
  })[]
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null
}

const Limit = z.int().min(1).max(200)

/** A request for the reach of an identity or of a service. */
export const ReachRequest = z.object({
  identity: IdOrName.optional(),
  service: IdOrName.optional(),
  type: z.enum(['Dial', 'Bind']).optional(),
  text: PartOfName.default(''),
  limit: Limit.default(50),
  cursor: PageCursor.optional(),
})

/** A scope in a request: steps as JSON. */
export const ScopeText = z.string().max(16_384)

const Attributes = z.array(z.string().max(1024)).max(256)

/** The steps of a scope: a member has some role attribute of `any`, and no attribute of `none`. */
export const ScopeSteps = z.array(z.object({ any: Attributes.optional(), none: Attributes.optional() })).max(32)

/** The most groups of each kind in a map: as many names as a reader can look through. */
const MOST_GROUPS = 40

/** A request for a map: the part of the network, the most groups of each kind without the rest, and the most policies. */
export const MapRequest = z.object({
  identities: ScopeText.default('[]'),
  services: ScopeText.default('[]'),
  identitiesBy: z.string().max(1024).optional(),
  servicesBy: z.string().max(1024).optional(),
  type: z.enum(['Dial', 'Bind']).default('Dial'),
  groups: z.int().min(2).max(MOST_GROUPS).default(MOST_GROUPS),
  policies: z.int().min(0).max(MOST_GROUPS).default(0),
})

/** A request for members of a scope. */
export const ScopeMembersRequest = z.object({
  kind: z.enum(['identities', 'services', 'edge-routers']),
  scope: ScopeText.default('[]'),
  text: PartOfName.default(''),
  limit: Limit.default(50),
  cursor: PageCursor.optional(),
})

/** A request for findings: all kinds with their first entities, or a page of one kind. */
export const FindingsRequest = z.object({
  finding: z.enum(FINDING_KINDS).optional(),
  limit: Limit.default(5),
  cursor: PageCursor.optional(),
})
