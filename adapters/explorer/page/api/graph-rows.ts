/** What a group holds. */
export type GroupKind = 'identity' | 'service' | 'router'

/** Entities with the same role attributes. */
export interface Group {
  readonly key: string
  readonly kind: GroupKind
  readonly label: string
  readonly attributes: readonly string[]
  readonly count: number
}

export type EdgeType = 'Dial' | 'Bind' | 'edge-router' | 'service-edge-router'

/** Policies that let members of one group reach members of another. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly type: EdgeType
  readonly policies: readonly { readonly id: string; readonly name: string }[]
  readonly pairs: number
}

export interface Graph {
  readonly revision: number
  readonly groups: readonly Group[]
  readonly edges: readonly Edge[]
  readonly truncated: boolean
}
