import type { AccessType } from '../access-index/index.ts'
import type { PostureCheck, PostureData } from '../posture/index.ts'
import type { Semantic } from '../roles.ts'

/** An entity that role lists select. */
export interface NamedEntity {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** A service policy that selects the identity, the service or both. Its checks matter only when it selects both. */
export interface PolicyUnderReview {
  readonly id: string
  readonly name: string
  readonly type: AccessType
  readonly semantic: Semantic
  readonly identityRoles: readonly string[]
  readonly serviceRoles: readonly string[]
  readonly checks: readonly PostureCheck[]
}

export interface RouterState {
  readonly id: string
  readonly name: string
  readonly isOnline: boolean
}

/** Whether an identity is disabled, and until when (epoch ms): null for good. */
export interface DisabledState {
  readonly isDisabled: boolean
  readonly disabledUntil?: number | null
}

/** Everything that decides whether an identity may dial or bind a service, as it stands at `at` (epoch ms). */
export interface AccessFacts {
  /** The question as it was asked, by id or name. */
  readonly asked: { readonly identity: string; readonly service: string }
  readonly type: AccessType
  readonly at: number
  readonly identity: (NamedEntity & DisabledState) | undefined
  readonly service: NamedEntity | undefined
  readonly policies: readonly PolicyUnderReview[]
  readonly posture: PostureData
  /** The API session whose second factor counts; `undefined` when the identity has none. */
  readonly apiSessionId: string | undefined
  readonly identityRouters: readonly RouterState[]
  readonly serviceRouters: readonly RouterState[]
}
