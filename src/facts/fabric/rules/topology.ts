import type { Path } from './circuit-routes.ts'
import { type Hop, PathTree, type TopologyLink, type TopologyRouter } from './shortest-paths.ts'

/** The least cost of a router, so that a path over fewer routers wins when links cost nothing. */
export const LEAST_ROUTER_COST = 10

/**
 * The connected routers and usable links of one moment. It is immutable: a change builds another topology. Links with an end outside of the
 * routers are left out.
 */
export class Topology {
  readonly #routers: ReadonlyMap<string, TopologyRouter>
  readonly #hops: ReadonlyMap<string, readonly Hop[]>
  readonly #trees = new Map<string, PathTree>()

  constructor(routers: Iterable<TopologyRouter>, links: Iterable<TopologyLink>) {
    this.#routers = new Map([...routers].map((router) => [router.id, router]))
    this.#hops = cheapestHops(this.#routers, links)
  }

  has(routerId: string): boolean {
    return this.#routers.has(routerId)
  }

  /** The least cost of a path between two routers; undefined without a path. */
  costBetween(from: string, to: string): number | undefined {
    return this.#treeFrom(from)?.costTo(to)
  }

  /** A path of least cost between two routers; undefined without a path. */
  pathBetween(from: string, to: string): Path | undefined {
    return this.#treeFrom(from)?.pathTo(to)
  }

  #treeFrom(routerId: string): PathTree | undefined {
    const known = this.#trees.get(routerId)
    if (known !== undefined || !this.#routers.has(routerId)) return known
    const tree = new PathTree(routerId, (id) => this.#hops.get(id) ?? [])
    this.#trees.set(routerId, tree)
    return tree
  }
}

function cheapestHops(
  routers: ReadonlyMap<string, TopologyRouter>,
  links: Iterable<TopologyLink>,
): ReadonlyMap<string, readonly Hop[]> {
  const hops = new Map<string, Map<string, Hop>>()
  const offer = (from: string, to: string, link: TopologyLink) => {
    const router = routers.get(to)
    if (router === undefined || !routers.has(from) || from === to) return
    const cost = link.cost + Math.max(router.cost, LEAST_ROUTER_COST)
    const known = hops.get(from) ?? new Map<string, Hop>()
    hops.set(from, known)
    const best = known.get(to)
    if (best === undefined || cost < best.cost || (cost === best.cost && link.id < best.link)) {
      known.set(to, { router, link: link.id, cost })
    }
  }
  for (const link of links) {
    offer(link.source, link.target, link)
    offer(link.target, link.source, link)
  }
  return new Map([...hops].map(([id, neighbours]) => [id, [...neighbours.values()]]))
}

/** One connection of a link, as the dialing router reports it. */
export interface LinkConnection {
  readonly type: string
  readonly source: string
  readonly target: string
}

/** The report of a dialing router about a link. */
export interface LinkReport {
  /** Chosen by the dialing router; the same over its attempts. */
  readonly id: string
  readonly target: string
  readonly protocol: string
  readonly dialAddress: string
  /** Counts the attempts, so that late messages of an earlier attempt are recognised. */
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

/** Assumed latency of each end of an unmeasured link, in ms: the link is only used without an alternative. */
export const UNKNOWN_LATENCY_MS = 65_000

/** The link of a first report. */
export function newLink(source: string, report: LinkReport): Link {
  const latencies = { sourceLatencyMs: UNKNOWN_LATENCY_MS, targetLatencyMs: UNKNOWN_LATENCY_MS }
  return { ...report, source, staticCost: 1, ...latencies, isDown: false }
}

/**
 * Judges a report of the router `source` on a link: a later iteration replaces the link but keeps the settings of an operator; a repetition
 * changes nothing. Undefined when the link belongs to another router, since only its dialer may report it.
 */
export function reportedLink(known: Link | undefined, source: string, report: LinkReport): Link | undefined {
  if (known === undefined) return newLink(source, report)
  if (known.source !== source) return undefined
  if (report.iteration <= known.iteration) return known
  const { staticCost, isDown } = known
  return { ...newLink(source, report), staticCost, isDown }
}

/** Reports whether a fault of an iteration concerns the current link; a fault without an iteration (0) always does. */
export function concernsLink({ iteration }: Link, faultIteration: number): boolean {
  return faultIteration === 0 || faultIteration >= iteration
}

/** Computes the cost of a link: its static cost and the latency of both ends in whole milliseconds. */
export function linkCost({ staticCost, sourceLatencyMs, targetLatencyMs }: Link): number {
  return staticCost + Math.floor(sourceLatencyMs) + Math.floor(targetLatencyMs)
}

/** The link with the latency that one end measured; unchanged for a router at neither end. */
export function withLatency(link: Link, routerId: string, latencyMs: number): Link {
  if (routerId === link.source) return { ...link, sourceLatencyMs: latencyMs }
  return routerId === link.target ? { ...link, targetLatencyMs: latencyMs } : link
}

/** The link in the search of paths. */
export function topologyLink(link: Link): TopologyLink {
  return { id: link.id, source: link.source, target: link.target, cost: linkCost(link) }
}
