import type { AccessType, EntityKind } from '../access-index/kinds.ts'
import type { Semantic } from '../roles.ts'

/** The kinds of entities that a graph of a network draws. */
export type GroupedKind = Exclude<EntityKind, 'posture-checks'>
export const GROUPED_KINDS: readonly GroupedKind[] = ['identities', 'services', 'edge-routers']

/** What the members of a group have in common: all their role attributes, or the policies that select them. */
export type Grouping = 'role-attribute' | 'policy'

/** What a line of the graph says: who may dial or bind what, and which edge routers identities and services may use. */
export type LinkType = AccessType | 'edge-router' | 'service-edge-router'

/** The kinds that a link of each type leads from and to. */
export const ENDS: Readonly<Record<LinkType, { readonly from: GroupedKind; readonly to: GroupedKind }>> = {
  Dial: { from: 'identities', to: 'services' },
  Bind: { from: 'identities', to: 'services' },
  'edge-router': { from: 'identities', to: 'edge-routers' },
  'service-edge-router': { from: 'services', to: 'edge-routers' },
}

/** A policy of any kind: it links everybody whom one of its role lists selects with all that the other one selects. */
export interface GraphPolicy {
  readonly id: string
  readonly name: string
  readonly type: LinkType
  readonly semantic: Semantic
  /** The role list over the kind that the link leads from. */
  readonly from: readonly string[]
  /** The role list over the kind that the link leads to. */
  readonly to: readonly string[]
  /** It asks for a state of the endpoint. */
  readonly isGuarded: boolean
}
