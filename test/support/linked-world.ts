import { TLSSocket } from 'node:tls'
import type { Timer } from '../../adapters/network/channel/conversation.ts'
import { createRouterRequests } from '../../adapters/network/enrollment/created-requests.ts'
import { openOwnRouter, type RunningRouter } from '../../adapters/network/router/index.ts'
import { listenForRouter } from '../../adapters/network/router/router-server.ts'
import { type EdgeWorld, edgeWorld, type Hold, type HoldTo, until } from './edge-world.ts'

/** Two routers of a controller in this process, with a link over TLS: that of the world dials the other one. */
export interface LinkedWorld extends EdgeWorld {
  readonly other: RunningRouter
  close(): Promise<void>
}

interface LinkedWorldOptions {
  readonly timer?: Timer
  readonly hold?: Hold
  readonly holdTo?: HoldTo
}

const NAME = 'other'
const HOST = '127.0.0.1'

export async function linkedWorld({ timer, hold, holdTo }: LinkedWorldOptions = {}): Promise<LinkedWorld> {
  const world = await edgeWorld(timer, hold, holdTo)
  const { plane, controller } = world
  // Its port shows certificates before the router runs, which is dialed at once then.
  const newKey = (routerId: string) => createRouterRequests(routerId, [HOST])
  const own = await plane.ownRouter({ name: NAME, roleAttributes: [], newKey })
  const { keyPem: key, certPem: clientCert, serverCertPem: serverCert, caPem: ca } = own
  let other: RunningRouter | undefined
  const server = await listenForRouter({
    ...{ host: HOST, port: 0, credentials: () => ({ key, clientCert, serverCert, ca }) },
    acceptLink: ({ stream, chain }) => {
      if (stream instanceof TLSSocket) other?.acceptLink(stream, chain)
    },
  })
  const place = { advertise: `${HOST}:${server.port}`, takesLinks: true, now: () => controller.clock.now() }
  other = await openOwnRouter({ name: NAME }, { plane, ...place, ...(timer && { timer }) })
  const running = other
  await until(async () => (await linkCount(world)) === 1)
  return {
    ...world,
    other,
    close: async () => {
      running.close()
      world.router.close()
      await server.close()
    },
  }
}

async function linkCount({ controller }: EdgeWorld): Promise<number> {
  const { data } = await controller.admin.call('GET /current-api-session')
  const headers = { 'zt-session': data.token }
  const answer = await controller.fetch(new Request('https://controller.test:1280/fabric/v1/links', { headers }))
  return Object(await answer.json()).data.length
}
