import type { Semantic } from '../../../base/roles.ts'

/** The kind of entity that a role list can select. */
export type EntityKind = 'identities' | 'services' | 'edge-routers' | 'posture-checks'

/** The kind of policy, each with its role lists. */
export type PolicyKind = 'service-policies' | 'edge-router-policies' | 'service-edge-router-policies'

/** The access that a service policy grants. */
export type AccessType = 'Dial' | 'Bind'

/** The part of an entity that role lists look at. */
export interface IndexedEntity {
  readonly id: string
  readonly roleAttributes: readonly string[]
}

/** The part of a policy that decides whom it links: one role list per side, one semantic for all of them. */
export interface IndexedPolicy {
  readonly id: string
  readonly semantic: Semantic
  /** Service policies only. */
  readonly type?: AccessType
  readonly roles: Partial<Record<EntityKind, readonly string[]>>
}

/** The grant of service policies of one type that ask for the same posture checks: as one of them passes, all do. */
export interface Grant {
  readonly type: AccessType
  /** The policy of the lowest id. */
  readonly policyId: string
  /** The ids of the posture checks, ascending; none where nothing is asked for. */
  readonly checks: readonly string[]
}

/** The sides that a policy of each kind has. */
export const SIDES_OF = {
  'service-policies': ['identities', 'services', 'posture-checks'],
  'edge-router-policies': ['identities', 'edge-routers'],
  'service-edge-router-policies': ['services', 'edge-routers'],
} as const satisfies Record<PolicyKind, readonly EntityKind[]>
