import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { serve } from 'portcullis/node'
import { enrollDevice, enrollRouter } from './enroll.ts'
import { type Admin, createNetwork, letRoutersCarry, logIn } from './network.ts'
import type { RouterConfig } from './router-config.ts'
import { fetchFile, freePorts, openClock, serveWeb, untilStopped } from './web.ts'
import { ZitiProcesses } from './ziti.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-example' }

/** The outcome of the example. */
export interface TrafficFigures {
  /** Milliseconds from revoking the policy to the last byte of a running connection. */
  readonly cutAfterMs: number
  /** Whether a connection that another policy carries went on meanwhile. */
  readonly othersWentOn: boolean
}

/**
 * Runs a controller in this process with two routers, a hosting and a dialing tunneler of the given program, carries a file
 * through them, and revokes what lets it through. `tell` hears each step.
 */
export async function runTraffic(ziti: string, tell: (line: string) => void): Promise<TrafficFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-traffic-'))
  const file = (name: string) => join(folder, name)
  const processes = new ZitiProcesses(ziti)
  const web = await serveWeb()
  const ports = await freePorts(7)
  const [port = 0, link1 = 0, edge1 = 0, link2 = 0, edge2 = 0, byRouter = 0, byProxy = 0] = ports
  const controller = await createController({
    storage: memoryStorage(),
    address: `127.0.0.1:${port}`,
    admin: ADMIN,
    rateLimits: false,
  })
  const server = await serve(controller, { port, fabric: true })
  try {
    tell(`the controller is at ${server.url}, routers reach it at ${server.controlAddress}; logs are in ${folder}`)
    const admin = await logIn(controller, ADMIN)
    const { dialPolicy } = await createNetwork(admin, web.port)

    const startRouter = async (name: string, config: RouterConfig) => {
      const id = await enrollRouter(admin, ziti, { name, isTunnelerEnabled: true }, config)
      processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])
      await untilOnline(admin, id)
      tell(`router ${name} enrolled and is online`)
      return id
    }
    const first = await startRouter('first', { files: file('first'), linkPort: link1, edgePort: edge1 })
    for (const [name, role] of [
      ['host', 'hosts'],
      ['client', 'clients'],
    ] as const) {
      await enrollDevice(admin, ziti, { name, role, files: file(name) })
    }
    processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
    processes.start(file('client.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`])
    tell(`client -> ziti tunnel proxy -> router -> ziti tunnel host: the file came in ${await fetchFile(byProxy)} ms`)

    const proxied = { service: 'web-by-router', port: byRouter }
    const second = await startRouter('second', { files: file('second'), linkPort: link2, edgePort: edge2, proxied })
    await letRoutersCarry(admin, first, second)
    tell(`client -> router -> link -> router: the file came in ${await fetchFile(byRouter)} ms`)

    const [kept, cut] = [await openClock(byRouter), await openClock(byProxy)]
    tell(`open circuits: ${Object.keys(await admin.call('GET', '/fabric/v1/circuits')).length}`)
    await admin.call('DELETE', `/service-policies/${dialPolicy}`)
    const cutAfterMs = await untilStopped(cut)
    const othersWentOn = kept.isTicking()
    tell(`the policy is revoked: the connection that it carried stood still after ${cutAfterMs} ms`)
    tell(`the connection that another policy carries ${othersWentOn ? 'goes on' : 'was cut as well'}`)
    for (const clock of [kept, cut]) clock.close()
    return { cutAfterMs, othersWentOn }
  } finally {
    await processes.stop()
    web.close()
    await server.close({ graceMs: 0 })
    await controller.close()
  }
}

async function untilOnline(admin: Admin, id: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await admin.call('GET', `/edge-routers/${id}`)).isOnline === true) return
    await sleep(200)
  }
  throw new Error(`router ${id} did not come online`)
}
