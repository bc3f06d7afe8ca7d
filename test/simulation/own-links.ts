import { X509Certificate } from 'node:crypto'
import { duplexPair } from 'node:stream'
import type { OwnRouterPorts } from '../../adapters/network/router/index.ts'
import type { SimulatedProcess, Surroundings } from './simulated-process.ts'
import { key } from './wires.ts'
import type { PlayedStream, World } from './world.ts'

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

/** The circuit of a stream may be that of a killed process: its router asks for it within two minutes without traffic. */
export function isLeftBehind({ running, killedAt }: World, { at, openedAt }: PlayedStream): boolean {
  return at === running?.name && openedAt <= killedAt
}

/** At rest the own routers have one link with each other, and open streams got back all that they sent. */
export function ownLinksWrong(world: World, listed: readonly unknown[]): string | undefined {
  const { manner, processes, streams } = world
  if (!manner.hasOwnLinks) return undefined
  const own = processes.flatMap(({ running }) => running?.router?.id ?? [])
  const ends = listed.map((link) => [Object(link).sourceRouter, Object(link).destRouter].map((end) => Object(end).id))
  const between = ends.filter((pair) => pair.every((id) => own.includes(String(id))))
  if (between.length !== 1) return `links: the controller knows ${between.length} links between the own routers`
  const short = streams.find(
    (stream) => !stream.isOver && stream.received.length < stream.sent.length && !isLeftBehind(world, stream),
  )
  return short && `bytes: a stream of ${short.client} got ${short.received.length} of ${short.sent.length} bytes back`
}
