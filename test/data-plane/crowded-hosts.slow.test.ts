import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ChannelSocket } from '../../adapters/network/channel/channel-socket.ts'
import { edgeWorld, PlayedEndpoint, until } from '../support/edge-world.ts'

const MIB = 1024 * 1024
const LIMITS = {
  frame: { headers: MIB, body: 32 * MIB },
  outgoing: { bytes: 64 * MIB, stallMs: 60_000 },
  rate: { perSecond: 1e6, burst: 1e6 },
}
const CLIENTS = 40

/** Two ends of a TCP connection. */
async function sockets(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const dialed = connect(Object(server.address()).port, '127.0.0.1')
  const [socket] = await accepted
  server.close()
  return [dialed, socket]
}

it('a host gets what many dialers send at the same time, however slowly it reads', async () => {
  const world = await edgeWorld()
  const device = await world.device('host', ['hosts'])
  const [mine, theirs] = await sockets()
  onTestFinished(() => void mine.destroy())
  world.router.accept(theirs, { chain: device.connection.clientCertificates ?? [], remoteAddress: '127.0.0.1' })
  const nobody = { onMessage: () => undefined, onClose: () => undefined }
  const channel = new ChannelSocket(mine, LIMITS, LIMITS.frame, nobody)
  const { token } = (await device.call('GET /current-api-session')).data
  const host = await PlayedEndpoint.open(channel, device, token, -1)
  const heard = new Map<number, number>()
  host.serve((connection, body) => heard.set(connection, (heard.get(connection) ?? 0) + body.length))
  await host.host(1)
  const client = await world.device('client', ['clients'])
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => world.connect(client)))
  for (const [at, one] of clients.entries()) await one.dial(at + 1)
  channel.pause()
  for (const [at, one] of clients.entries()) one.data(at + 1, new Uint8Array(MIB - 1000))
  // All of it has reached the router, and its way to the host is full.
  await new Promise((resolve) => setTimeout(resolve, 300))
  channel.resume()
  await until(() => host.isClosed || [...heard.values()].filter((bytes) => bytes === MIB - 1000).length === CLIENTS)
  expect([host.isClosed, heard.size]).toEqual([false, CLIENTS])
})
