/** A router as paths see it. */
export interface TopologyRouter {
  readonly id: string
  /** What it costs to go through or to the router. */
  readonly cost: number
  /** No path passes it on its way to another router; it may be the first or the last. */
  readonly noTraversal: boolean
}

/** A link that carries traffic both ways between two routers. */
export interface TopologyLink {
  readonly id: string
  readonly source: string
  readonly target: string
  readonly cost: number
}

/** One step from a router: over the cheapest link to a neighbour. */
export interface Hop {
  readonly router: TopologyRouter
  readonly link: string
  /** Cost of the link and of the router that it leads to. */
  readonly cost: number
}
