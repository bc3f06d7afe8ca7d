import { isSameList } from '../../../base/collections.ts'
/** The reason for the end of a circuit. */
export type CircuitEnd =
  | 'client-closed'
  | 'client-gave-up'
  | 'host-closed'
  | 'idle'
  | 'access-lost'
  | 'session-ended'
  | 'service-deleted'
  | 'router-deleted'
  | 'router-shut-out'
  | 'no-path'
  | 'removed'

/** The phases of a circuit: open, moving to another path (one move at a time), and closed for good. */
export type CircuitPhase =
  | { readonly name: 'open' }
  | { readonly name: 'moving'; readonly to: Path; readonly isStale: boolean }
  | { readonly name: 'closed'; readonly reason: CircuitEnd }

/** The path of a circuit, and its phase. */
export interface CircuitCourse {
  readonly path: Path
  readonly phase: CircuitPhase
}

export function opened(path: Path): CircuitCourse {
  return { path, phase: { name: 'open' } }
}

/**
 * Begins the move of a circuit to another path, or to the same path again if it is broken. During a move nothing begins, but the path is
 * marked for another check. A closed circuit stays closed.
 */
export function moveBegun(course: CircuitCourse, to: Path, isBroken = false): CircuitCourse {
  const { phase } = course
  if (phase.name === 'closed') return course
  if (phase.name === 'moving') return { ...course, phase: { ...phase, isStale: true } }
  if (!isBroken && isSamePath(course.path, to)) return course
  return { ...course, phase: { name: 'moving', to, isStale: false } }
}

/** Ends a move with success: every router of the new path has done its part. */
export function moved(course: CircuitCourse): CircuitCourse {
  return course.phase.name === 'moving' ? opened(course.phase.to) : course
}

/** Ends a move with failure: the circuit keeps its path. */
export function moveFailed(course: CircuitCourse): CircuitCourse {
  return course.phase.name === 'moving' ? opened(course.path) : course
}

/** Closes the circuit; the first reason counts. */
export function closed(course: CircuitCourse, reason: CircuitEnd): CircuitCourse {
  return course.phase.name === 'closed' ? course : { ...course, phase: { name: 'closed', reason } }
}

/** Every router that may hold a part of the circuit: the routers of its path, and of the path that it moves to. */
export function routersOf({ path, phase }: CircuitCourse): readonly string[] {
  return [...new Set([...path.routers, ...(phase.name === 'moving' ? phase.to.routers : [])])]
}

/** Reports whether a router belongs to the circuit, and may send messages about it. */
export function passes(course: CircuitCourse, routerId: string): boolean {
  return routersOf(course).includes(routerId)
}

/** A path through the network: routers in order, and the link between each router and the next. A single router is a path too. */
export interface Path {
  readonly routers: readonly string[]
  readonly links: readonly string[]
  /** The total cost of the hops; 0 without hops. */
  readonly cost: number
}

/** Reports whether two paths have the same routers and links, whatever their cost. */
export function isSamePath(left: Path, right: Path): boolean {
  return isSameList(left.routers, right.routers) && isSameList(left.links, right.links)
}

/** The router at which traffic enters. */
export function firstRouter({ routers }: Path): string {
  return routers[0] ?? ''
}

/** The router at which traffic leaves; in a path of one router it is also the first. */
export function lastRouter({ routers }: Path): string {
  return routers.at(-1) ?? ''
}

/** The routers of a path that another path does not include. */
export function routersLeft(before: Path, after: Path): readonly string[] {
  const kept = new Set(after.routers)
  return before.routers.filter((id) => !kept.has(id))
}

/** The end of a forward: the dialing side, the hosting side, or a link. */
export type DestinationType = 'start' | 'end' | 'link'

/** A router's rule for a circuit's traffic from one address. */
export interface Forward {
  readonly srcAddress: string
  readonly dstAddress: string
  readonly dstType: DestinationType
}

/** The addresses at the two ends of a circuit, which stay the same over all its paths. */
export interface CircuitEnds {
  readonly ingress: string
  readonly egress: string
}

/** The forwards of one router of a path. */
export interface RouterForwards {
  readonly routerId: string
  readonly forwards: readonly Forward[]
  /** True when the traffic leaves the network at this router. */
  readonly isLast: boolean
}

interface Neighbour {
  readonly address: string
  readonly type: DestinationType
}

/** Lists the forwards of each router of a path for a circuit, in the order of the path. */
export function forwardsOf({ routers, links }: Path, { ingress, egress }: CircuitEnds): readonly RouterForwards[] {
  return routers.map((routerId, position) => {
    const before = neighbour(links[position - 1], { address: ingress, type: 'start' })
    const after = neighbour(links[position], { address: egress, type: 'end' })
    return {
      routerId,
      forwards: [
        { srcAddress: before.address, dstAddress: after.address, dstType: after.type },
        { srcAddress: after.address, dstAddress: before.address, dstType: before.type },
      ],
      isLast: position === routers.length - 1,
    }
  })
}

function neighbour(link: string | undefined, end: Neighbour): Neighbour {
  return link === undefined ? end : { address: link, type: 'link' }
}
