/** Why a circuit is over. */
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

/** The phases of a circuit: laid, moved to another path one at a time, and over for good. */
export type CircuitPhase =
  | { readonly name: 'open' }
  | { readonly name: 'moving'; readonly to: Path; readonly isStale: boolean }
  | { readonly name: 'closed'; readonly reason: CircuitEnd }

/** The way of a circuit and where it stands. */
export interface CircuitCourse {
  readonly path: Path
  readonly phase: CircuitPhase
}

export function opened(path: Path): CircuitCourse {
  return { path, phase: { name: 'open' } }
}

/**
 * The circuit is to take another path, or the same again where that is broken. While it moves already nothing begins, and it
 * is noted that its way has to be looked at again; a closed circuit stays closed.
 */
export function moveBegun(course: CircuitCourse, to: Path, isBroken = false): CircuitCourse {
  const { phase } = course
  if (phase.name === 'closed') return course
  if (phase.name === 'moving') return { ...course, phase: { ...phase, isStale: true } }
  if (!isBroken && isSamePath(course.path, to)) return course
  return { ...course, phase: { name: 'moving', to, isStale: false } }
}

/** Every router of the new path did its part: it is the path of the circuit. */
export function moved(course: CircuitCourse): CircuitCourse {
  return course.phase.name === 'moving' ? opened(course.phase.to) : course
}

/** The move came to nothing and the circuit is as it was. */
export function moveFailed(course: CircuitCourse): CircuitCourse {
  return course.phase.name === 'moving' ? opened(course.path) : course
}

/** The circuit is over, for the first reason that is given. */
export function closed(course: CircuitCourse, reason: CircuitEnd): CircuitCourse {
  return course.phase.name === 'closed' ? course : { ...course, phase: { name: 'closed', reason } }
}

/** Every router that may hold a part of the circuit: those of its path, and of the one that it moves to. */
export function routersOf({ path, phase }: CircuitCourse): readonly string[] {
  return [...new Set([...path.routers, ...(phase.name === 'moving' ? phase.to.routers : [])])]
}

/** Whether a router may speak for the circuit. */
export function passes(course: CircuitCourse, routerId: string): boolean {
  return routersOf(course).includes(routerId)
}

/** A way through the network: routers in order, and the link between each and the next. One router alone is a path too. */
export interface Path {
  readonly routers: readonly string[]
  readonly links: readonly string[]
  /** The cost of the hops together; 0 without any. */
  readonly cost: number
}

/** Whether two paths pass the same routers over the same links, whatever they cost. */
export function isSamePath(left: Path, right: Path): boolean {
  return isSameList(left.routers, right.routers) && isSameList(left.links, right.links)
}

/** The router at which traffic enters. */
export function firstRouter({ routers }: Path): string {
  return routers[0] ?? ''
}

/** The router at which traffic leaves, which for a path of one router is the first. */
export function lastRouter({ routers }: Path): string {
  return routers.at(-1) ?? ''
}

/** The routers of a path that another one does not pass. */
export function routersLeft(before: Path, after: Path): readonly string[] {
  const kept = new Set(after.routers)
  return before.routers.filter((id) => !kept.has(id))
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, position) => value === right[position])
}

/** The end of a forward: the side that dialed, the side that hosts, or a link. */
export type DestinationType = 'start' | 'end' | 'link'

/** The treatment by a router of the traffic of a circuit that arrives from one address. */
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
  /** The traffic leaves the network here. */
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
