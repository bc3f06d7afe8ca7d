import { BoundedMap } from '../../base/collections.ts'
import type { LinkChange } from '../../context/context.ts'
import {
  concernsLink,
  currentCost,
  LEAST_ROUTER_COST,
  type Link,
  type LinkReport,
  linkCost,
  type Path,
  reportedLink,
  Topology,
  topologyLink,
  withLatency,
} from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouter, ConnectedRouters } from './connected-routers.ts'

/** The links that reports added, replaced or ended. */
export interface LinkChanges {
  readonly added: readonly Link[]
  readonly removed: readonly Link[]
  /** A router spoke of links that are not its own. */
  readonly hasForeign: boolean
}

/** The most links that are kept for one router; more than any network has. */
const MOST_LINKS_OF_A_ROUTER = 4096
const MOST_REMEMBERED = 20_000

/** The links between routers, as the dialing routers report them. */
export class Network {
  readonly #routers: ConnectedRouters
  readonly #links = new Map<string, Link>()
  /** The iteration of each link that is over, so that a late report does not bring the link back. */
  readonly #over = new BoundedMap<string, { readonly source: string; readonly iteration: number }>(MOST_REMEMBERED)
  #topology: Topology | undefined

  constructor(routers: ConnectedRouters) {
    this.#routers = routers
  }

  get(id: string): Link | undefined {
    return this.#links.get(id)
  }

  all(): readonly Link[] {
    return [...this.#links.values()]
  }

  /** The connected routers that are heard, and the links between them that carry traffic now. */
  topology(): Topology {
    this.#topology ??= this.#topologyOf(this.#routers.all())
    return this.#topology
  }

  /** The same without some of the routers. */
  topologyWithout(routerIds: ReadonlySet<string>): Topology {
    if (routerIds.size === 0) return this.topology()
    return this.#topologyOf(this.#routers.all().filter(({ id }) => !routerIds.has(id)))
  }

  /** Computes the cost of a path now; undefined when one of its links is gone. */
  costOf(path: Path): number | undefined {
    const costOfLink = (id: string) => {
      const link = this.#links.get(id)
      return link === undefined || link.isDown ? undefined : linkCost(link)
    }
    const costOfRouter = (id: string) => Math.max(this.#routers.get(id)?.terms.cost ?? 0, LEAST_ROUTER_COST)
    return currentCost(path, costOfLink, costOfRouter)
  }

  /** Routers came or went, or their costs changed. */
  routersChanged(): void {
    this.#topology = undefined
  }

  /** A router reports links that it dialed: some, or with `isFull` all of them. */
  report(source: string, reports: readonly LinkReport[], isFull: boolean): LinkChanges {
    const own = this.all().filter((link) => link.source === source)
    const named = new Set(reports.map(({ id }) => id))
    const removed = isFull ? own.filter(({ id }) => !named.has(id)) : []
    if (isFull) this.#forgetOver(source)
    for (const link of removed) this.#remove(link)
    const added: Link[] = []
    let hasForeign = false
    const room = MOST_LINKS_OF_A_ROUTER - own.length + removed.length
    for (const report of reports.slice(0, Math.max(0, room))) {
      const known = this.#links.get(report.id)
      const link = this.#isOver(source, report) ? known : reportedLink(known, source, report)
      if (link === undefined) hasForeign ||= known !== undefined
      else if (link !== known) {
        this.#links.set(link.id, link)
        added.push(link)
      }
    }
    this.#topology = undefined
    return { added, removed, hasForeign }
  }

  /**
   * One end of a link says that it is over; answers the link, or undefined for a link that is unknown or was dialed anew since. Answers
   * `foreign` to a router that is at neither end: it must not speak for the link.
   */
  fault(routerId: string, linkId: string, iteration: number): Link | 'foreign' | undefined {
    const link = this.#links.get(linkId)
    if (link === undefined || !concernsLink(link, iteration)) return undefined
    if (routerId !== link.source && routerId !== link.target) return 'foreign'
    this.#remove(link)
    return link
  }

  /** Takes a link out of the network; answers it. */
  remove(linkId: string): Link | undefined {
    const link = this.#links.get(linkId)
    if (link !== undefined) this.#remove(link)
    return link
  }

  /** Changes the settings of an operator for a link; answers the link, undefined for an unknown link. */
  change(linkId: string, { staticCost, isDown }: LinkChange): Link | undefined {
    const known = this.#links.get(linkId)
    if (known === undefined) return undefined
    const link = { ...known, staticCost: staticCost ?? known.staticCost, isDown: isDown ?? known.isDown }
    this.#links.set(linkId, link)
    this.#topology = undefined
    return link
  }

  /** Forgets the links of a router that is gone for good; answers them. */
  removeAllOf(routerId: string): readonly Link[] {
    const links = this.all().filter(({ source, target }) => source === routerId || target === routerId)
    for (const link of links) this.#remove(link)
    this.#forgetOver(routerId)
    return links
  }

  /**
   * Keeps the new state of a link's connections, if it concerns the present iteration. Answers false, and changes nothing, for a link that
   * another router dialed.
   */
  updateState(
    source: string,
    linkId: string,
    iteration: number,
    state: Pick<Link, 'stateIteration' | 'connections'>,
  ): boolean {
    const link = this.#links.get(linkId)
    if (link === undefined) return true
    if (link.source !== source) return false
    const isNews = link.iteration === iteration && state.stateIteration > link.stateIteration
    if (isNews) this.#links.set(linkId, { ...link, ...state })
    return true
  }

  /** One end of a link measured its latency, ms; answers false, and changes nothing, for a router at neither end. */
  measured(routerId: string, linkId: string, latencyMs: number): boolean {
    const link = this.#links.get(linkId)
    if (link === undefined) return true
    if (link.source !== routerId && link.target !== routerId) return false
    this.#links.set(linkId, withLatency(link, routerId, latencyMs))
    this.#topology = undefined
    return true
  }

  #topologyOf(routers: readonly ConnectedRouter[]): Topology {
    const usable = this.all().filter(({ isDown }) => !isDown)
    return new Topology(
      routers
        .filter(({ isHeard }) => isHeard)
        .map(({ id, terms, isQuiesced }) => ({
          id,
          ...terms,
          noTraversal: terms.noTraversal || isQuiesced,
        })),
      usable.map(topologyLink),
    )
  }

  #isOver(source: string, { id, iteration }: LinkReport): boolean {
    const over = this.#over.get(id)
    return over?.source === source && iteration <= over.iteration
  }

  #remove(link: Link): void {
    this.#links.delete(link.id)
    this.#over.set(link.id, { source: link.source, iteration: link.iteration })
    this.#topology = undefined
  }

  #forgetOver(source: string): void {
    for (const [id, over] of this.#over) if (over.source === source) this.#over.delete(id)
  }
}
