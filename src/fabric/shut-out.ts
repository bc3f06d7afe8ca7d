import { firstRouter, lastRouter, passes } from '../facts/fabric/rules/index.ts'
import { shutOutAmong } from '../routers/router-admission.ts'
import type { FabricParts } from './assemble-fabric.ts'

/**
 * Shuts out a router that was deleted, disabled or is to enroll anew: it carries no traffic any more. While it still listens it gets the
 * order to forget its circuits. Other routers close their links to it. A circuit through it takes another path; a circuit that begins or
 * ends there is ended. It need not be connected: it gets missed messages when it comes back.
 */
export function shutOut(parts: FabricParts, routerId: string, reason: 'router-deleted' | 'router-shut-out'): void {
  const { routers, presence, network, peers, links, circuits, exchange, ends, rerouting, relays } = parts
  const router = routers.get(routerId)
  const carried = circuits.all().filter(({ course }) => passes(course, routerId))
  for (const circuit of carried) {
    const { path } = circuit.course
    if (firstRouter(path) === routerId || lastRouter(path) === routerId) ends.end(circuit, reason, true)
    else ends.unroute(circuit.id, [routerId], true)
  }
  for (const circuitId of exchange.circuitsAt(routerId)) ends.unroute(circuitId, [routerId], true)
  if (router !== undefined) {
    routers.remove(router)
    presence.routerDisconnected(routerId)
    relays.gone(routerId)
  }
  network.routersChanged()
  exchange.routerGone(routerId)
  peers.removed(routerId)
  links.routerRemoved(routerId)
  for (const circuit of carried) {
    const { phase, path } = circuit.course
    if (phase.name === 'open' && path.routers.includes(routerId)) rerouting.repair(circuit)
  }
  router?.channel.close()
}

/** Shuts out routers that are unknown here and may not be connected: other routers have links to them, and no loss was reported. */
export async function shutOutStrangers(parts: FabricParts, routerIds: readonly string[]): Promise<void> {
  const strangers = new Set(routerIds.filter((id) => parts.routers.get(id) === undefined))
  if (strangers.size === 0) return
  const found = await parts.context.storage.read((tx) => shutOutAmong(tx, strangers))
  for (const id of found) shutOut(parts, id, 'router-shut-out')
}
