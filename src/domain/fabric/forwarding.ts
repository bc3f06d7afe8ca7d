import type { Path } from './path.ts'

/** What stands at the end of a forward: the side that dialed, the side that hosts, or a link. */
export type DestinationType = 'start' | 'end' | 'link'

/** What a router does with the traffic of a circuit that arrives from one address. */
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

/** What each router of a path has to do for a circuit, in the order of the path. */
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
