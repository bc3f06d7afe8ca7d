import type { Inspected, InspectedValue } from '../../../src/control-channel.ts'
import type { Forwarder } from './forwarder.ts'
import type { Links } from './links/links.ts'

/** Reads one value of the state of a router, as JSON can hold it; undefined for an unknown name. */
export type ReadsValue = (name: string) => unknown

/** The most circuits of one answer: a router may forward a hundred thousand, and an answer is one message. */
const MOST_CIRCUITS = 10_000
/** The word for the end of a circuit at this router, beside `link`. */
const END = 'edge'

/** The values of the links and circuits of any router. */
export function fabricValues(forwarder: Forwarder, links: Links): ReadsValue {
  return (name) => {
    switch (name) {
      case 'links':
        return { links: links.all.map(toldLink), destinations: [], errors: [] }
      case 'router-circuits':
        return { circuits: toldCircuits(forwarder, new Set(links.all.map(({ facts }) => facts.id))) }
      default:
        return undefined
    }
  }
}

/** The answer to a request for values: each value that a reader knows. Unknown names are left out. */
export function inspectedValues(id: string, names: readonly string[], readers: readonly ReadsValue[]): Inspected {
  const values: InspectedValue[] = names.flatMap((name) => {
    const value = readers.map((read) => read(name.toLowerCase())).find((one) => one !== undefined)
    return value === undefined ? [] : [{ name, value: JSON.stringify(value) }]
  })
  return { type: 'inspected', id, errors: [], values }
}

function toldLink({ facts, sockets }: Links['all'][number]) {
  const { id, peerId, iteration, isDialed, key, dialAddress } = facts
  const underlays: Record<string, number> = {}
  for (const { type } of sockets) underlays[type] = (underlays[type] ?? 0) + 1
  return {
    ...{ id, iteration, key, split: false, protocol: 'tls', dialAddress, dest: peerId, destVersion: '' },
    ...{ dialed: isDialed, underlays, connStateIteration: 0 },
    connections: sockets.map(({ type, localAddress, remoteAddress }) => {
      return { Type: type, Source: localAddress, Dest: remoteAddress }
    }),
  }
}

function toldCircuits(forwarder: Forwarder, linkIds: ReadonlySet<string>) {
  return Object.fromEntries(
    forwarder.laidCircuits(MOST_CIRCUITS).map(({ circuitId, controllerId, idleMs, forwards }) => [
      circuitId,
      {
        id: circuitId,
        timeSinceActivity: `${Math.round(idleMs)}ms`,
        ctrlId: controllerId,
        routes: Object.fromEntries(forwards),
        destinations: Object.fromEntries(
          [...forwards.values()].map((address) => [address, linkIds.has(address) ? 'link' : END]),
        ),
      },
    ]),
  )
}
