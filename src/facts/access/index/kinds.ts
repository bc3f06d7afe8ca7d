import type { Semantic } from '../../../base/roles.ts'

/** The kind of entity that a role list can select. */
export type EntityKind = 'identities' | 'services' | 'edge-routers' | 'posture-checks'

/** The kinds of policies, each with its role lists. */
export const POLICY_KINDS = ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const
export type PolicyKind = (typeof POLICY_KINDS)[number]

/** The access that a service policy grants. */
export type AccessType = 'Dial' | 'Bind'

/** The part of an entity that role lists match. */
export interface IndexedEntity {
  readonly id: string
  readonly roleAttributes: readonly string[]
}

/** The part of a policy that decides which entities it links: one role list per side, one semantic for all of them. */
export interface IndexedPolicy {
  readonly id: string
  readonly semantic: Semantic
  /** Service policies only. */
  readonly type?: AccessType
  /** True for a service policy that selects and grants nothing now: its term has not begun, or is over. */
  readonly isDormant?: boolean
  readonly roles: Partial<Record<EntityKind, readonly string[]>>
}

/** The grant of service policies of one type that demand the same posture checks: they pass or fail together. */
export interface Grant {
  readonly type: AccessType
  /** The policy with the lowest id. */
  readonly policyId: string
  /** The ids of the demanded posture checks, ascending. */
  readonly checks: readonly string[]
}

/** The sides that a policy of each kind has. */
export const SIDES_OF = {
  'service-policies': ['identities', 'services', 'posture-checks'],
  'edge-router-policies': ['identities', 'edge-routers'],
  'service-edge-router-policies': ['services', 'edge-routers'],
} as const satisfies Record<PolicyKind, readonly EntityKind[]>
