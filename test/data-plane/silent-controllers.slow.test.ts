import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { openPkiDirectory, serve } from 'portcullis/node'
import { enroll, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { expect, it, onTestFinished } from 'vitest'
import { enrollRouter } from '../../adapters/network/router/control/enrolled-router.ts'
import { runRouter } from '../../adapters/network/router/standalone-router.ts'
import { type Admin, createNetwork, logIn } from '../../examples/traffic/network.ts'
import { freePorts } from '../../examples/traffic/web.ts'
import { SilentWay } from '../failover/silent-way.ts'
import { until } from '../support/linked-network.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-two' }
/** Dialers give up after about as many milliseconds. */
const DIAL_MS = 3000
/** The router gives up a channel after 30 s of silence. */
const MOST_MS = 15_000

/** A controller over the database of a folder, whose routers reach it by another port; answers calls of its admin. */
async function controllerIn(folder: string, port: number, routersAt: number): Promise<Admin> {
  const storage = await sqliteStorage(join(folder, 'network.sqlite'))
  const pki = openPkiDirectory(join(folder, 'pki'))
  const controller = await createController({ storage, pki, address: `127.0.0.1:${port}`, admin: ADMIN })
  const fabric = { advertise: { host: '127.0.0.1', port: routersAt } }
  const server = await serve(controller, { port, fabric })
  onTestFinished(async () => {
    await server.close({ graceMs: 0 })
    await controller.close()
  })
  return logIn(controller, ADMIN)
}

async function device(admin: Admin, name: string, role: string) {
  const body = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
  const { enrollment } = await admin.call('GET', `/identities/${await admin.create('/identities', body)}`)
  const opened = await openIdentity(await enroll(String(Object(Object(enrollment).ott).jwt)))
  onTestFinished(() => opened.close())
  return opened
}

it('a router asks another controller for circuits within seconds when one keeps its channel and says nothing', {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-silent-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const ports = await freePorts(2)
  const ways = await Promise.all(ports.map((port) => SilentWay.to(port)))
  onTestFinished(() => {
    for (const way of ways) way.close()
  })
  const admins: Admin[] = []
  for (const [at, way] of ways.entries()) admins.push(await controllerIn(folder, ports[at] ?? 0, way.port))
  const [admin] = admins
  if (admin === undefined) throw new Error('there are two controllers')
  const id = await admin.create('/edge-routers', { name: 'router', isTunnelerEnabled: false })
  const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
  const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1'])
  const controllers = ways.map(({ port }) => `tls:127.0.0.1:${port}`)
  const router = await runRouter({ identity: { ...identity, controllers }, listen: '127.0.0.1:0' })
  onTestFinished(() => router.close())
  const connected = () => until(async () => router.controllers.length, ways.length, 60_000)
  await connected()
  await createNetwork(admin, 0)
  const host = await device(admin, 'host', 'hosts')
  const client = await device(admin, 'client', 'clients')
  await host.host('web', (connection: ServiceConnection) => void connection.pipe(connection))
  const echo = async () => {
    const connection = await client.dial('web', { timeoutMs: DIAL_MS })
    connection.write('hello')
    await once(connection, 'data')
    connection.destroy()
  }
  await until(
    () =>
      echo().then(
        () => true,
        () => false,
      ),
    true,
  )

  // The router asks the controller first that it has had for longest: each of the two is that at one of the cuts.
  for (const way of ways) {
    way.cut()
    const begun = performance.now()
    await until(
      () =>
        echo().then(
          () => true,
          () => false,
        ),
      true,
    )
    const tookMs = performance.now() - begun
    console.log(`dialed ${Math.round(tookMs)} ms after a controller said nothing any more`)
    expect(tookMs).toBeLessThan(MOST_MS)
    way.mend()
    await until(async () => router.controllers.length < ways.length, true)
    await connected()
  }
})
