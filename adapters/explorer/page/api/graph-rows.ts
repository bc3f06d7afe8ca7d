/** What a group holds. */
export type GroupKind = 'identities' | 'services' | 'edge-routers'

export type LinkType = 'Dial' | 'Bind' | 'edge-router' | 'service-edge-router'

/** Entities that are drawn as one. */
export interface Group {
  readonly key: string
  readonly kind: GroupKind
  readonly roleAttributes: readonly string[]
  readonly roleAttributeCount: number
  readonly count: number
  readonly isRest: boolean
}

export interface GraphPolicy {
  readonly id: string
  readonly name: string
  readonly type: LinkType
  readonly isGuarded: boolean
}

/** A graph as the controller answers it. */
export interface GraphAnswer {
  readonly revision: number
  readonly groupBy: 'role-attribute' | 'policy'
  readonly kinds: readonly string[]
  readonly groups: readonly Group[]
  readonly policies: readonly GraphPolicy[]
  readonly links: readonly {
    readonly from: number
    readonly to: number
    readonly type: LinkType
    readonly pairs: number
    readonly policies: readonly number[]
    readonly policyCount: number
    readonly isGuarded: boolean
  }[]
  readonly linkCount: number
}
