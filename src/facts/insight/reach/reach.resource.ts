import { z } from 'zod'
import { IdOrName } from '../../access/access-questions.resource.ts'
import { PageCursor, PartOfName } from '../graph/graph.resource.ts'

// The words stand here once more, so that typed clients load none of the rules behind them; the schema holds them together.
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
  /** Whether an identity is connected; null for services. */
  readonly status: 'online' | 'offline' | 'unknown' | null
}

/** A page of what one entity reaches, or is reached by, by name. */
export interface Reach {
  readonly kind: 'identities' | 'services'
  readonly entity: Named
  /** How many it reaches, or is reached by, by each type. */
  readonly counts: { readonly dial: number; readonly bind: number }
  readonly reached: readonly Reached[]
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** A part of the entities of one kind that is drawn as one. */
export interface MapGroup {
  /** The scope of its members: what GET /access-map and GET /access-map/members take. */
  readonly scope: string
  /** Role attributes: every member has one of them. The most frequent comes first. */
  readonly roleAttributes: readonly string[]
  /** The same for the larger group that holds it; empty where none does. */
  readonly partOf: readonly string[]
  readonly count: number
  readonly isRest: boolean
}

/** Who may dial or bind what, in few groups. */
export interface AccessMap {
  readonly revision: number
  readonly type: AccessType
  readonly identities: { readonly count: number; readonly groups: readonly MapGroup[] }
  readonly services: { readonly count: number; readonly groups: readonly MapGroup[] }
  readonly links: readonly {
    /** Places in the groups of identities and of services. */
    readonly from: number
    readonly to: number
    readonly pairs: number
    readonly policies: readonly Named[]
    readonly policyCount: number
    readonly isGuarded: boolean
  }[]
}

/** The kinds of findings, in the order in which an operator looks at them. */
export const FINDING_KINDS = [
  'edge-routers-offline',
  'services-without-terminators',
  'services-without-edge-routers',
  'services-without-identities',
  'identities-without-services',
  'identities-without-edge-routers',
  'policies-without-effect',
  'invitations-ended',
  'invitations-ending',
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

/** Entities that are probably configured by mistake. */
export interface Finding {
  readonly finding: FindingKind
  readonly count: number
  /** The first of them by name, each with its resource. */
  readonly entities: readonly (Named & { readonly kind: string })[]
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

const Limit = z.int().min(1).max(200)

/** Whose reach is wanted: of an identity, or of a service. */
export const ReachRequest = z.object({
  identity: IdOrName.optional(),
  service: IdOrName.optional(),
  type: z.enum(['Dial', 'Bind']).optional(),
  text: PartOfName.default(''),
  limit: Limit.default(50),
  cursor: PageCursor.optional(),
})

/** A scope as a request says it: steps as JSON. */
export const ScopeText = z.string().max(16_384)

const Attributes = z.array(z.string().max(1024)).max(256)

/** The steps of a scope: of `any` one role attribute is held, of `none` not one. */
export const ScopeSteps = z.array(z.object({ any: Attributes.optional(), none: Attributes.optional() })).max(32)

/** Which part of the network is to be drawn, and in how many groups of each kind at most, the rest aside. */
export const MapRequest = z.object({
  identities: ScopeText.default('[]'),
  services: ScopeText.default('[]'),
  type: z.enum(['Dial', 'Bind']).default('Dial'),
  groups: z.int().min(2).max(40).default(12),
})

/** Which members of a scope are wanted. */
export const ScopeMembersRequest = z.object({
  kind: z.enum(['identities', 'services', 'edge-routers']),
  scope: ScopeText.default('[]'),
  text: PartOfName.default(''),
  limit: Limit.default(50),
  cursor: PageCursor.optional(),
})

/** Which findings are wanted: all with the first of each, or a page of one. */
export const FindingsRequest = z.object({
  finding: z.enum(FINDING_KINDS).optional(),
  limit: Limit.default(5),
  cursor: PageCursor.optional(),
})
