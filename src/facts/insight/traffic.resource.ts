import { z } from 'zod'

/** An entity by its name; null where nobody has it any more. */
interface Named {
  readonly id: string
  readonly name: string | null
}

/** A router of either kind, as it is now. */
export interface TrafficRouter {
  readonly id: string
  readonly name: string
  readonly kind: 'edge-routers' | 'transit-routers'
  readonly isOnline: boolean
  /** How many open circuits pass it. */
  readonly circuits: number
}

/** A link between two routers, as it is now. */
export interface TrafficLink {
  readonly id: string
  readonly source: Named
  readonly target: Named
  /** The greater of the latencies that both ends measured, in milliseconds; null while neither did. */
  readonly latencyMs: number | null
  /** True for a link that an operator took out of use. */
  readonly isDown: boolean
  readonly circuits: number
}

/** Open circuits from one identity to one service by the same first and last router. */
export interface TrafficFlow {
  readonly identity: Named
  readonly service: Named
  readonly routers: readonly Named[]
  readonly circuits: number
}

/** An open circuit. */
export interface TrafficCircuit {
  readonly id: string
  readonly identity: Named
  readonly service: Named
  /** The identity that serves it; null where a router does for itself. */
  readonly host: Named | null
  /** The routers that it passes, in order. */
  readonly path: readonly Named[]
  /** RFC 3339. */
  readonly openedAt: string
}

/** Routers, links and circuits as they are now. */
export interface Traffic {
  /** Whether the process that answers serves routers. */
  readonly isOpen: boolean
  readonly counts: {
    readonly routers: number
    readonly routersOnline: number
    readonly links: number
    /** The open circuits that were asked for. */
    readonly circuits: number
  }
  /** Those that are offline first, then the most used. */
  readonly routers: readonly TrafficRouter[]
  /** The most used first. */
  readonly links: readonly TrafficLink[]
  /** The largest first. */
  readonly flows: readonly TrafficFlow[]
  /** The newest first. */
  readonly circuits: readonly TrafficCircuit[]
  /** Where the next page of circuits begins; null on the last. */
  readonly nextCursor: string | null
}

const EntityId = z.string().min(1).max(256)

/** Which circuits are wanted: those of an identity, a service or a router, by id, and which page of them. */
export const TrafficRequest = z.object({
  identity: EntityId.optional(),
  service: EntityId.optional(),
  router: EntityId.optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(256).optional(),
})
