import { X509Certificate } from 'node:crypto'
import { duplexPair } from 'node:stream'
import type { OwnRouterPorts } from '../../adapters/network/router/index.ts'
import type { SimulatedProcess, Surroundings } from './simulated-process.ts'
import { key } from './wires.ts'
import type { World } from './world.ts'

const CONTROL_PORT = ':6262'

/** The links of the router of a process to those of others: the code of the product, over the wires of the run. */
export function linkedOver(
  { wires, processAt }: Pick<Surroundings, 'wires' | 'processAt'>,
  { name }: Pick<SimulatedProcess, 'name'>,
  state: { readonly isAlive: boolean },
): Pick<OwnRouterPorts, 'takesLinks' | 'openStream'> {
  return {
    takesLinks: true,
    openStream: async ({ address, credentials }) => {
      const other = processAt(address.replace(/:\d+$/, CONTROL_PORT))
      const router = other?.running?.router
      if (!state.isAlive || other === undefined || router === undefined || wires.refused.has(key(name, other.name)))
        throw new Error(`${address} is not reached`)
      // As sockets: the end of the other side closes.
      const [stream, near] = duplexPair({ allowHalfOpen: false })
      const [far, theirs] = duplexPair({ allowHalfOpen: false })
      wires.streams([name, other.name], near, far)
      router.acceptLink(theirs, chainOf(credentials.clientCert))
      return stream
    },
  }
}

/** The certificates of a PEM text, DER. */
export function chainOf(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new Uint8Array(new X509Certificate(block).raw))
}

/** At rest the own routers have one link with each other, and open streams got back all that they sent. */
export function ownLinksWrong({ manner, processes, streams }: World, listed: readonly unknown[]): string | undefined {
  if (!manner.hasOwnLinks) return undefined
  const own = processes.flatMap(({ running }) => running?.router?.id ?? [])
  const ends = listed.map((link) => [Object(link).sourceRouter, Object(link).destRouter].map((end) => Object(end).id))
  const between = ends.filter((pair) => pair.every((id) => own.includes(String(id))))
  if (between.length !== 1) return `links: the controller knows ${between.length} links between the own routers`
  const short = streams.find(({ isOver, sent, received }) => !isOver && received.length < sent.length)
  return short && `bytes: a stream of ${short.client} got ${short.received.length} of ${short.sent.length} bytes back`
}
