import type { EngineContext, LinkChange } from '../../context/context.ts'
import type { Link, LinkReport } from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouters } from '../channels/connected-routers.ts'
import type { Network } from '../channels/network.ts'
import { removed } from '../channels/peers.ts'
import type { Rerouting } from './rerouting.ts'

const NANOSECONDS = 1_000_000
const LONGEST_TEXT = 512
const MOST_TEXTS = 100
const LINK_METRIC = /^link\.(.+)\.(latency|queue_time)$/

/** Takes the reports of routers about links: circuits over a lost link take another path. */
export class LinkReports {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #network: Network
  readonly #rerouting: Rerouting

  constructor(context: EngineContext, routers: ConnectedRouters, network: Network, rerouting: Rerouting) {
    this.#context = context
    this.#routers = routers
    this.#network = network
    this.#rerouting = rerouting
  }

  /** A router tells of links that it dialed; answers whether it reported links of other routers. */
  reported(routerId: string, reports: readonly LinkReport[], isFull: boolean): { readonly hasForeign: boolean } {
    const { added, removed: gone, hasForeign } = this.#network.report(routerId, reports.filter(isReasonable), isFull)
    for (const link of gone) this.#lost(link)
    for (const link of added) this.#tell(link, true)
    return { hasForeign }
  }

  /** One end says that a link is over; the other end is notified, because it may not have noticed. */
  fault(routerId: string, linkId: string, iteration: number, isDuplicate: boolean): { readonly isForeign: boolean } {
    const link = this.#network.fault(routerId, linkId, iteration)
    if (link === undefined || link === 'foreign') return { isForeign: link === 'foreign' }
    const otherEnd = routerId === link.source ? link.target : link.source
    // Both ends of a duplicate close it by themselves.
    if (!isDuplicate) this.#close(otherEnd, link)
    this.#lost(link)
    return { isForeign: false }
  }

  /** An operator cuts a link: both routers close it, and its dialer may dial again. False for an unknown link. */
  cut(linkId: string): boolean {
    const link = this.#network.remove(linkId)
    if (link === undefined) return false
    this.#close(link.source, link)
    this.#close(link.target, link)
    this.#lost(link)
    return true
  }

  /** An operator takes a link out of use, or changes its cost: circuits leave a link that is out of use. */
  change(linkId: string, change: LinkChange): boolean {
    const link = this.#network.change(linkId, change)
    if (link?.isDown === true) this.#rerouting.linkLost(linkId)
    return link !== undefined
  }

  /**
   * A router is gone for good, and its links with it. The routers at the other ends first learn of the loss, or they would dial again as
   * soon as the link is over. They then get a fault for each link, because deployed routers keep the link when only the router is lost.
   */
  routerRemoved(routerId: string): void {
    for (const link of this.#network.removeAllOf(routerId)) {
      const otherEnd = routerId === link.source ? link.target : link.source
      this.#routers.get(otherEnd)?.channel.send({ type: 'peers', changes: [removed(routerId)] })
      this.#close(otherEnd, link)
      this.#lost(link)
    }
  }

  /**
   * Takes a router's measurements, by the names of its metrics: the time on a link and the time of waiting for it; answers whether it named
   * links of other routers.
   */
  measured(routerId: string, nanoseconds: ReadonlyMap<string, number>): { readonly hasForeign: boolean } {
    const latencies = new Map<string, number>()
    for (const [name, mean] of nanoseconds) {
      const [, linkId] = LINK_METRIC.exec(name) ?? []
      if (linkId === undefined || !Number.isFinite(mean) || mean < 0) continue
      latencies.set(linkId, (latencies.get(linkId) ?? 0) + mean / NANOSECONDS)
    }
    let hasForeign = false
    for (const [linkId, latency] of latencies) {
      if (!this.#network.measured(routerId, linkId, latency)) hasForeign = true
    }
    return { hasForeign }
  }

  #lost(link: Link): void {
    this.#tell(link, false)
    this.#rerouting.linkLost(link.id)
  }

  #close(routerId: string, { id: linkId, iteration }: Link): void {
    this.#routers.get(routerId)?.channel.send({ type: 'link-fault', linkId, iteration })
  }

  #tell({ id: linkId, source, target, protocol, dialAddress, staticCost, connections }: Link, isUp: boolean): void {
    const at = this.#context.clock.now()
    this.#context.events.emit('link.connection', {
      linkId,
      source,
      target,
      protocol,
      dialAddress,
      staticCost,
      connections,
      isUp,
      at,
    })
  }
}

/** Whether a reported link is within bounds: a router must not fill the memory with reports. */
function isReasonable({ id, target, protocol, dialAddress, connections }: LinkReport): boolean {
  const texts = [
    id,
    target,
    protocol,
    dialAddress,
    ...connections.flatMap(({ source, target, type }) => [source, target, type]),
  ]
  return id !== '' && texts.length < MOST_TEXTS && texts.every(({ length }) => length <= LONGEST_TEXT)
}
