import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpsFetch } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, letRoutersCarry, logIn } from '../../examples/traffic/network.ts'
import type { RouterConfig } from '../../examples/traffic/router-config.ts'
import { fetchFile, freePorts, openClock, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'
import { portcullis, portIn, workersOf } from '../adapters/cli/cli-process.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
const ziti = findZiti()
const MINUTE = 60_000

if (ziti === undefined)
  console.warn('SKIPPED: no real router, because there is no `ziti` on the path and ZITI names none')

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let controller: ReturnType<typeof portcullis>
let admin: Admin
let byRouter = 0
let controlPort = 0
const file = (name: string) => join(folder, name)

async function startRouter(name: string, config: Omit<RouterConfig, 'files'>): Promise<string> {
  const fields = { name, isTunnelerEnabled: true }
  const id = await enrollRouter(admin, ziti ?? '', fields, { ...config, files: file(name) })
  processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])
  await vi.waitUntil(async () => (await admin.call('GET', `/edge-routers/${id}`)).isOnline, { timeout: MINUTE })
  return id
}

/** How many connections of others a port of this machine has. */
async function connectionsTo(port: number): Promise<number> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/))
  return rows.filter(([, local, , state]) => local?.endsWith(wanted) && state === '01').length
}

describe.skipIf(ziti === undefined || process.platform !== 'linux')('routers of a controller with two workers', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-router-workers-'))
    processes = new ZitiProcesses(ziti ?? '')
    web = await serveWeb()
    const [control = 0, link1 = 0, edge1 = 0, link2 = 0, edge2 = 0, proxied = 0] = await freePorts(6)
    byRouter = proxied
    controlPort = control
    const where = ['--listen', '127.0.0.1:0', '--control-listen', `127.0.0.1:${control}`, '--workers', '2']
    controller = portcullis(['serve', ...where, '--pki', 'pki', '--storage', 'sqlite:network.db'], {
      cwd: folder,
      variables: { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password },
    })
    const port = portIn(await controller.ready)
    const fetch = httpsFetch({ ca: await readFile(file('pki/ca.pem'), 'utf8') })
    const atPort = (url: string) => url.replace('localhost', `127.0.0.1:${port}`)
    admin = await logIn({ fetch: (request) => fetch(new Request(atPort(request.url), request)) }, ADMIN)
    await createNetwork(admin, web.port)
    const hosting = await startRouter('hosting', { linkPort: link1, edgePort: edge1 })
    const dials = { service: 'web-by-router', port: byRouter }
    const dialing = await startRouter('dialing', { linkPort: link2, edgePort: edge2, proxied: dials })
    await letRoutersCarry(admin, hosting, dialing)
    await fetchFile(byRouter, MINUTE)
  }, 3 * MINUTE)

  afterAll(async () => {
    await processes?.stop()
    web?.close()
    controller?.kill('SIGKILL')
    await controller?.ended
    console.log(`logs are in ${folder}`)
  })

  it('connect to both by themselves, and are served on whichever worker is killed', {
    timeout: 4 * MINUTE,
  }, async () => {
    for (const port of [controlPort, controlPort + 1]) {
      await expect.poll(() => connectionsTo(port), { timeout: MINUTE }).toBeGreaterThanOrEqual(2)
    }
    const clock = await openClock(byRouter)
    for (const worker of workersOf(controller.pid)) {
      process.kill(worker, 'SIGKILL')
      await sleep(1000)
      expect(clock.isTicking()).toBe(true)
      console.log(`a new circuit beside a killed worker took ${await fetchFile(byRouter, MINUTE)} ms`)
      for (const port of [controlPort, controlPort + 1]) {
        await expect.poll(() => connectionsTo(port), { timeout: MINUTE }).toBeGreaterThanOrEqual(2)
      }
    }
    expect(clock.isTicking()).toBe(true)
    clock.close()
    await fetchFile(byRouter)
  })
})
