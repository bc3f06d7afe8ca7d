import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { enrollDevice, type Identity, openIdentity } from 'portcullis/sdk'
import type { LinkedNetwork } from '../../test/support/linked-network.ts'
import { type Carrier, ofDuplex, serveStream } from './carried-stream.ts'
import { Endpoint, type EndpointIdentity } from './endpoint.ts'
import { type MeasuredProcess, start } from './measured-process.ts'

/** Keys and certificates of a router, PEM. */
export interface RouterKeys {
  readonly key: string
  readonly clientCert: string
  readonly serverCert: string
  readonly ca: string
}

/** A service that is hosted and dialed at one router. */
export interface CarriedService {
  readonly name: string
  readonly id: string
  readonly address: string
}

/** An identity of the network, and what endpoints of it say. */
export interface Member {
  readonly identity: Identity
  readonly endpoint: EndpointIdentity
}

/** A device that may dial and host every service here. */
export async function newMember(network: LinkedNetwork, name: string): Promise<Member> {
  const device = await enrollDevice({ jwt: await network.invite('member', name) })
  const identity = await openIdentity(device, { sessions: 'api-session' })
  const { data } = await identity.client.call('GET /current-api-session')
  return { identity, endpoint: { id: data.identityId, apiSessionToken: data.token, credentials: device } }
}

async function sessionOf({ identity }: Member, serviceId: string, type: 'Dial' | 'Bind'): Promise<string> {
  return (await identity.client.call('POST /sessions', { body: { serviceId, type } })).data.token
}

/** Hosts a service at an endpoint; answers the token of a service session that dials it. */
export async function hostOf(host: Endpoint, member: Member, { id }: CarriedService): Promise<string> {
  await host.host(await sessionOf(member, id, 'Bind'), serveStream)
  return sessionOf(member, id, 'Dial')
}

/** Streams by endpoints whose windows the router keeps: one channel for all that dial, and one for the host. */
export async function byRouterWindows(
  member: Member,
  service: CarriedService,
): Promise<Carrier & { channel(): Promise<Endpoint> }> {
  const opened: Endpoint[] = []
  const channel = async () => {
    const endpoint = await Endpoint.open(`tls://${service.address}`, member.endpoint)
    opened.push(endpoint)
    return endpoint
  }
  const [client, host] = [await channel(), await channel()]
  const dialing = await hostOf(host, member, service)
  await untilHosted(() => client.dial(dialing))
  return {
    open: () => client.dial(dialing),
    close: async () => {
      for (const endpoint of opened) endpoint.close()
    },
    channel,
  }
}

/** Streams by `portcullis/sdk`, which keeps windows itself. */
export async function byOwnWindows(client: Member, host: Member, { name }: CarriedService): Promise<Carrier> {
  const hosted = await host.identity.host(name, (duplex: Duplex) => serveStream(ofDuplex(duplex)))
  const open = async () => ofDuplex(await client.identity.dial(name, { timeoutMs: 60_000 }))
  await untilHosted(open)
  return {
    open,
    close: () => hosted.close(),
  }
}

/** Streams through a process that pipes TLS to TLS. */
export async function byPipe({
  key,
  serverCert: cert,
  ca,
}: RouterKeys): Promise<Carrier & { process: MeasuredProcess }> {
  const host = createServer({ key, cert }, (socket) => serveStream(ofDuplex(socket.setNoDelay(true))))
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  const { port } = Object(host.address())
  const pipe = await start<{ port: number }>('pipe-process.ts', { port, key, cert, ca })
  const sockets = new Set<TLSSocket>()
  return {
    process: pipe.process,
    open: async () => {
      const socket = connect({ port: pipe.answer.port, host: '127.0.0.1', ca })
      sockets.add(socket)
      await once(socket, 'secureConnect')
      return ofDuplex(socket.setNoDelay(true))
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      host.close()
      await pipe.stop()
    },
  }
}

/** A host is there when the controller knows it, which some routers tell later. */
export async function untilHosted(dial: () => Promise<{ close(): void }>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const stream = await dial()
      stream.close()
      return
    } catch (error) {
      if (attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
