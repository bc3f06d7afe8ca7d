import { z } from 'zod'

/** An entity by its name; null for a deleted entity. */
interface Named {
  readonly id: string
  readonly name: string | null
}

/** The bytes that circuits carried, as routers reported them to the answering process. */
interface Loaded {
  /** Bytes a second, as of the last report. */
  readonly bytesPerSecond: number
}

/** The current state of a router of either kind. */
export interface TrafficRouter extends Loaded {
  readonly id: string
  readonly name: string
  readonly kind: 'edge-routers' | 'transit-routers'
  readonly isOnline: boolean
  /** False until its first enrollment. */
  readonly isEnrolled: boolean
  /** The number of open circuits over it. */
  readonly circuits: number
}

/** The current state of a link between two routers. */
export interface TrafficLink extends Loaded {
  readonly id: string
  readonly source: Named
  readonly target: Named
  /** The greater of the latencies that its ends measured, in milliseconds; null before a measurement. */
  readonly latencyMs: number | null
  /** True for a link that an operator took out of use. */
  readonly isDown: boolean
  readonly circuits: number
}

/** Open circuits from one identity to one service by the same first and last router. */
export interface TrafficFlow extends Loaded {
  readonly identity: Named
  readonly service: Named
  readonly routers: readonly Named[]
  readonly circuits: number
}

/** An open circuit. */
export interface TrafficCircuit extends Loaded {
  readonly id: string
  readonly identity: Named
  readonly service: Named
  /** The hosting identity; null for a router that hosts for itself. */
  readonly host: Named | null
  /** The routers that it passes, in order. */
  readonly path: readonly Named[]
  /** RFC 3339. */
  readonly openedAt: string
  /** From its client and to it, since it was opened. */
  readonly bytes: number
  /** The bytes of each minute of the last half hour, the earliest first. */
  readonly history: readonly number[]
  /** The sum of the latencies of its links, in milliseconds; null where one is not measured. */
  readonly latencyMs: number | null
}

/** The current routers, links and circuits. */
export interface Traffic {
  /** True when the answering process serves routers. */
  readonly isOpen: boolean
  readonly counts: {
    readonly routers: number
    readonly routersOnline: number
    readonly links: number
    /** The number of open circuits that match the request. */
    readonly circuits: number
    readonly bytesPerSecond: number
    /** The bytes of each minute of the last half hour, the earliest first. */
    readonly history: readonly number[]
  }
  /** Offline routers first, then the most used. */
  readonly routers: readonly TrafficRouter[]
  /** The most used first. */
  readonly links: readonly TrafficLink[]
  /** The largest first. */
  readonly flows: readonly TrafficFlow[]
  /** The newest first. */
  readonly circuits: readonly TrafficCircuit[]
  /** The cursor of the next page of circuits; null on the last page. */
  readonly nextCursor: string | null
}

const EntityId = z.string().min(1).max(256)

/** A request for circuits: optionally of an identity, a service or a router, by id, and a page. */
export const TrafficRequest = z.object({
  identity: EntityId.optional(),
  service: EntityId.optional(),
  router: EntityId.optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(256).optional(),
})
