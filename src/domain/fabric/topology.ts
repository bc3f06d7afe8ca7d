import type { Path } from './path.ts'
import { PathTree } from './path-tree.ts'
import type { Hop, TopologyLink, TopologyRouter } from './topology-parts.ts'

/** A router costs at least so much, so that a path over fewer routers wins between links that cost nothing. */
export const LEAST_ROUTER_COST = 10

/**
 * The connected routers and usable links of one moment. It never changes: whoever learns of a change builds another one.
 * Links whose ends are not both among the routers are left out.
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

  /** The least that a path between two routers costs; undefined when there is none. */
  costBetween(from: string, to: string): number | undefined {
    return this.#treeFrom(from)?.costTo(to)
  }

  /** A path of least cost between two routers; undefined when there is none. */
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
