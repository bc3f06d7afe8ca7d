import { connect } from 'node:net'
import { pipeline } from 'node:stream'
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { serve } from 'portcullis/node'
import { enroll, type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { createNetwork, letRoutersCarry, logIn } from './network.ts'
import type { TrafficFigures } from './traffic.ts'
import { FILE, freePorts, serveWeb, untilStopped } from './web.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-example' }
/** Without a tick for longer, milliseconds, a clock stands still. */
const STILL_MS = 300

/**
 * Does the same as `runTraffic` without another program: the edge router runs in the controller's process, and identities of
 * `portcullis/sdk` dial and host over TLS. `tell` hears each step.
 */
export async function runOwnTraffic(tell: (line: string) => void): Promise<TrafficFigures> {
  const web = await serveWeb()
  const [port = 0] = await freePorts(1)
  const options = { storage: memoryStorage(), address: `127.0.0.1:${port}`, admin: ADMIN, rateLimits: false as const }
  const controller = await createController(options)
  const server = await serve(controller, { port, fabric: true, router: true })
  const identities: Identity[] = []
  try {
    tell(`the controller and its edge router are at ${server.url}`)
    const admin = await logIn(controller, ADMIN)
    const { dialPolicy } = await createNetwork(admin, web.port)
    const identity = async (name: string, role: string) => {
      const fields = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
      const id = await admin.create('/identities', fields)
      const { enrollment } = await admin.call('GET', `/identities/${id}`)
      // An identity that was created with `ott` has this member until it enrolls.
      const { ott } = enrollment as { readonly ott: { readonly jwt: string } }
      const opened = await openIdentity(await enroll(ott.jwt))
      identities.push(opened)
      return { id, opened }
    }
    const [host, client, other] = [
      await identity('host', 'hosts'),
      await identity('client', 'clients'),
      await identity('other', 'others'),
    ]
    await letRoutersCarry(admin, host.id, other.id)
    const toWeb = (connection: ServiceConnection) => {
      const socket = connect({ port: web.port, host: '127.0.0.1', allowHalfOpen: true })
      // A failure of one ends both.
      pipeline(connection, socket, () => undefined)
      pipeline(socket, connection, () => undefined)
    }
    for (const service of ['web', 'web-by-router']) await host.opened.host(service, toWeb)
    const begun = performance.now()
    if ((await (await client.opened.fetch('http://web/file')).text()) !== FILE) throw new Error('another file came')
    tell(
      `client -> router -> host, encrypted from end to end: the file came in ${Math.round(performance.now() - begun)} ms`,
    )

    const [kept, cut] = [await openClock(other.opened, 'web-by-router'), await openClock(client.opened, 'web')]
    await admin.call('DELETE', `/service-policies/${dialPolicy}`)
    const cutAfterMs = await untilStopped(cut)
    const othersWentOn = kept.isTicking()
    tell(`the policy is revoked: the connection that it carried stood still after ${cutAfterMs} ms`)
    tell(`the connection that another policy carries ${othersWentOn ? 'goes on' : 'was cut as well'}`)
    return { cutAfterMs, othersWentOn }
  } finally {
    await Promise.all(identities.map((identity) => identity.close()))
    web.close()
    await server.close({ graceMs: 0 })
    await controller.close()
  }
}

/** Listens to the clock of a service. */
async function openClock(identity: Identity, service: string): Promise<{ isTicking(): boolean }> {
  const { body } = await identity.fetch(`http://${service}/clock`)
  let tickedAt = performance.now()
  const listen = async () => {
    for await (const _tick of body ?? []) tickedAt = performance.now()
  }
  // It ends by an error when access is lost.
  listen().catch(() => undefined)
  return { isTicking: () => performance.now() - tickedAt < STILL_MS }
}
