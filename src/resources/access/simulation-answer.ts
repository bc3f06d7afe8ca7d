interface Named {
  readonly id: string
  readonly name: string
}

interface Counts {
  readonly gained: number
  readonly lost: number
}

/** Who would gain and lose what by changes. */
export interface SimulationAnswer {
  readonly revision: number
  /** Null on every page but the first. */
  readonly counts: { readonly dial: Counts; readonly bind: Counts } | null
  readonly pairs: readonly {
    readonly identity: Named
    readonly service: Named
    readonly type: 'Dial' | 'Bind'
    readonly change: 'gained' | 'lost'
  }[]
  readonly nextCursor: string | null
}
