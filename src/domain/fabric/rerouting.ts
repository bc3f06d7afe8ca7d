import { firstRouter, isSamePath, lastRouter, type Path } from './path.ts'
import type { Topology } from './topology.ts'

/** A circuit as far as its way is concerned. */
export interface RoutedCircuit {
  readonly id: string
  readonly path: Path
}

/** A circuit and the path that it is to take from now on. */
export interface Detour<C extends RoutedCircuit> {
  readonly circuit: C
  readonly path: Path
}

const GREATEST_SHARE = 0.02
const MOST_AT_ONCE = 4
const LEAST_GAIN = 15

/**
 * What becomes of a circuit whose way is broken: another path between the same two routers, or undefined when there is none
 * and the circuit must end. The routers at its ends know its addresses and cannot be exchanged.
 */
export function detourOf(circuit: RoutedCircuit, topology: Topology): Path | undefined {
  return topology.pathBetween(firstRouter(circuit.path), lastRouter(circuit.path))
}

/** The circuits that pass a link. */
export function circuitsOver<C extends RoutedCircuit>(linkId: string, circuits: Iterable<C>): readonly C[] {
  return [...circuits].filter(({ path }) => path.links.includes(linkId))
}

/**
 * The circuits that gain most by another path now: at most four at a time and 2 % of all, at least one, each only where the
 * gain is worth the disturbance. Few at once, because every circuit that moves changes what the others measure.
 */
export function worthwhileDetours<C extends RoutedCircuit>(
  circuits: Iterable<C>,
  topology: Topology,
  costOf: (path: Path) => number | undefined,
): readonly Detour<C>[] {
  const all = [...circuits]
  const gains = all.flatMap((circuit) => {
    const path = detourOf(circuit, topology)
    const current = costOf(circuit.path)
    if (path === undefined || current === undefined || isSamePath(path, circuit.path)) return []
    const gain = current - path.cost
    return gain >= LEAST_GAIN ? [{ circuit, path, current }] : []
  })
  gains.sort((left, right) => right.current - left.current || (left.circuit.id < right.circuit.id ? -1 : 1))
  const most = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(all.length * GREATEST_SHARE)))
  return gains.slice(0, most).map(({ circuit, path }) => ({ circuit, path }))
}

/** What a path costs by the links and routers of now; undefined when one of its links is gone. */
export function currentCost(
  { routers, links }: Path,
  linkCost: (linkId: string) => number | undefined,
  routerCost: (routerId: string) => number,
): number | undefined {
  let total = 0
  for (const [position, link] of links.entries()) {
    const cost = linkCost(link)
    if (cost === undefined) return undefined
    total += cost + routerCost(routers[position + 1] ?? '')
  }
  return total
}
