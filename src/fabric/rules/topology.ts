import type { TopologyLink } from './topology-parts.ts'

/** One connection of a link, as the dialing router reports it. */
export interface LinkConnection {
  readonly type: string
  readonly source: string
  readonly target: string
}

/** What the router that dials a link reports of it. */
export interface LinkReport {
  /** Chosen by the dialing router; the same while its attempts go on. */
  readonly id: string
  readonly target: string
  readonly protocol: string
  readonly dialAddress: string
  /** Counts the attempts; what arrives late of an earlier one is told apart by it. */
  readonly iteration: number
  readonly stateIteration: number
  readonly connections: readonly LinkConnection[]
}

/** A link between two routers. Latencies are milliseconds, each as one end measures it. */
export interface Link extends LinkReport {
  /** The router that dialed. */
  readonly source: string
  readonly staticCost: number
  readonly sourceLatencyMs: number
  readonly targetLatencyMs: number
  /** Taken out of use by an operator; the routers keep it. */
  readonly isDown: boolean
}

/** What both ends of a link that nobody measured count as: it is used when there is nothing else. */
export const UNKNOWN_LATENCY_MS = 65_000

/** The link that a router reports for the first time. */
export function newLink(source: string, report: LinkReport): Link {
  const latencies = { sourceLatencyMs: UNKNOWN_LATENCY_MS, targetLatencyMs: UNKNOWN_LATENCY_MS }
  return { ...report, source, staticCost: 1, ...latencies, isDown: false }
}

/**
 * What becomes of a link by a report of the router `source`: a later iteration replaces it and keeps what an operator set;
 * a repeat changes nothing. Undefined when the id belongs to a link of another router, who must not speak for it.
 */
export function reportedLink(known: Link | undefined, source: string, report: LinkReport): Link | undefined {
  if (known === undefined) return newLink(source, report)
  if (known.source !== source) return undefined
  if (report.iteration <= known.iteration) return known
  const { staticCost, isDown } = known
  return { ...newLink(source, report), staticCost, isDown }
}

/** Whether a fault that names an iteration is about the link as it is now; a fault without one (0) always is. */
export function concernsLink({ iteration }: Link, faultIteration: number): boolean {
  return faultIteration === 0 || faultIteration >= iteration
}

/** What a link costs: its static cost and the latency of both ends in whole milliseconds. */
export function linkCost({ staticCost, sourceLatencyMs, targetLatencyMs }: Link): number {
  return staticCost + Math.floor(sourceLatencyMs) + Math.floor(targetLatencyMs)
}

/** The link with the latency that one of its ends measured; unchanged when the router is none of them. */
export function withLatency(link: Link, routerId: string, latencyMs: number): Link {
  if (routerId === link.source) return { ...link, sourceLatencyMs: latencyMs }
  return routerId === link.target ? { ...link, targetLatencyMs: latencyMs } : link
}

/** The link as paths see it. */
export function topologyLink(link: Link): TopologyLink {
  return { id: link.id, source: link.source, target: link.target, cost: linkCost(link) }
}
