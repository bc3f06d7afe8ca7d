import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpsFetch } from 'portcullis/node'
import { TEST_ADMIN } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, letRoutersCarry, logIn } from '../../examples/traffic/network.ts'
import type { RouterConfig } from '../../examples/traffic/router-config.ts'
import { fetchFile, freePorts, openClock, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'
import { closeBrowser, HAS_BROWSER, logIn as logInPage, openPage } from '../support/explorer.ts'
import { createDatabase, type PostgresDatabase } from '../support/postgres.ts'
import type { RoutedProcessTask } from '../support/routed-process.ts'

const ziti = findZiti()
const MINUTE = 60_000

if (ziti === undefined) {
  console.warn('SKIPPED: no real router, because there is no `ziti` on the path and ZITI names none')
}

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let database: PostgresDatabase
let ports: readonly number[] = []
let byRouter = 0
let byProxy = 0
const running = new Map<number, ChildProcess>()
const file = (name: string) => join(folder, name)

/** Starts the controller of a port, which names no other one to its routers; answers its admin. */
async function startController(port: number): Promise<Admin> {
  const child = fork(join(import.meta.dirname, '../support/routed-process.ts'), {
    execArgv: ['--conditions=portcullis-source'],
  })
  running.set(port, child)
  const task: RoutedProcessTask = { url: database.url, pki: file('pki'), port, others: [], admin: TEST_ADMIN }
  child.send(task)
  await once(child, 'message')
  return adminOf(port)
}

async function adminOf(port: number): Promise<Admin> {
  const fetch = httpsFetch({ ca: await readFile(file('pki/ca.pem'), 'utf8') })
  const send = (request: Request) => {
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(`https://127.0.0.1:${port}${pathname}${search}`, request))
  }
  return logIn({ fetch: send }, TEST_ADMIN)
}

async function killController(port: number): Promise<void> {
  const child = running.get(port)
  if (child === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  running.delete(port)
}

async function startRouter(admin: Admin, name: string, config: Omit<RouterConfig, 'files'>): Promise<string> {
  const fields = { name, isTunnelerEnabled: true }
  const id = await enrollRouter(admin, ziti ?? '', fields, { ...config, files: file(name) })
  processes.start(file(`${name}.log`), ['router', 'run', file(`${name}.yml`)])
  await vi.waitUntil(async () => (await admin.call('GET', `/edge-routers/${id}`)).isOnline, { timeout: MINUTE })
  return id
}

async function idsOf(admin: Admin, kind: 'circuits' | 'links'): Promise<readonly string[]> {
  const listed = Object.values(await admin.call('GET', `/fabric/v1/${kind}`))
  return listed.map((one) => String(Object(one).id)).sort()
}

describe.skipIf(ziti === undefined)(
  'three controllers over one database, and routers of which each knows one alone',
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'portcullis-one-network-'))
      processes = new ZitiProcesses(ziti ?? '')
      web = await serveWeb()
      database = await createDatabase()
      const [one = 0, two = 0, three = 0, link1 = 0, edge1 = 0, link2 = 0, edge2 = 0, ...proxied] = await freePorts(9)
      ports = [one, two, three]
      ;[byRouter = 0, byProxy = 0] = proxied
      const [first, second, third] = [
        await startController(one),
        await startController(two),
        await startController(three),
      ]
      await createNetwork(first, web.port)
      const hosting = await startRouter(first, 'hosting', { linkPort: link1, edgePort: edge1 })
      const dials = { service: 'web-by-router', port: byRouter }
      const dialing = await startRouter(second, 'dialing', { linkPort: link2, edgePort: edge2, proxied: dials })
      await letRoutersCarry(first, hosting, dialing)
      for (const [name, role] of [
        ['host', 'hosts'],
        ['client', 'clients'],
      ] as const) {
        await enrollDevice(third, ziti ?? '', { name, role, files: file(name) })
      }
      processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
      processes.start(file('client.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`])
    }, 4 * MINUTE)

    afterAll(async () => {
      await processes?.stop()
      for (const port of ports) await killController(port)
      web?.close()
      await database?.drop()
      console.log(`logs are in ${folder}`)
    })

    it('lay circuits over the routers of each other, know them all, and end those of each other', {
      timeout: 5 * MINUTE,
    }, async () => {
      const took = [await fetchFile(byRouter, MINUTE), await fetchFile(byProxy, MINUTE)]
      console.log(`the first circuits took ${took.join(' and ')} ms`)
      const clocks = [await openClock(byRouter), await openClock(byProxy)]
      const admins = await Promise.all(ports.map(adminOf))
      // The third one holds no router: it looks for the others every two seconds.
      const agree = async (kind: 'circuits' | 'links', least: number) => {
        const [first = [], ...others] = await Promise.all(admins.map((admin) => idsOf(admin, kind)))
        expect(first.length).toBeGreaterThanOrEqual(least)
        expect(others).toEqual([first, first])
        return first
      }
      const circuits = await vi.waitFor(() => agree('circuits', 2), { timeout: 10_000, interval: 500 })
      await vi.waitFor(() => agree('links', 1), { timeout: 10_000, interval: 500 })
      for (const id of circuits) await admins[2]?.call('DELETE', `/fabric/v1/circuits/${id}`, { immediate: true })
      await vi.waitFor(() => expect(clocks.map((clock) => clock.isTicking())).toEqual([false, false]), MINUTE)
      for (const clock of clocks) clock.close()
    })

    it.skipIf(!HAS_BROWSER)(
      'draw the routers, links and circuits of all in the explorer of each, and cut from there',
      {
        timeout: 5 * MINUTE,
      },
      async () => {
        const clocks = [await openClock(byRouter), await openClock(byProxy)]
        const { page, problems } = await openPage(`https://127.0.0.1:${ports[2]}/portcullis/explorer/#/live`)
        onTestFinished(closeBrowser)
        await logInPage(page, TEST_ADMIN)
        const drawing = page.getByRole('region', { name: 'Who talks to whom' })
        // A router that tunnels is also who talks: two boxes of one id.
        await vi.waitFor(
          async () => expect(await drawing.getByRole('link', { name: /^dialing/ }).count()).toBe(2),
          MINUTE,
        )
        for (const name of [/^hosting/, /^client/, /^web/]) await drawing.getByRole('link', { name }).first().waitFor()
        await drawing.locator('.router-link').first().waitFor({ state: 'attached' })
        await page.getByRole('region', { name: 'Links' }).getByText('dialing').first().waitFor()
        const circuits = page.getByRole('region', { name: 'Circuits now: 2' })
        const row = circuits.getByRole('row', { name: /client/ })
        await page.screenshot({ path: file('live.png') })
        await row.getByRole('button', { name: 'Cut' }).click()
        await row.getByRole('button', { name: 'Yes' }).click()
        await vi.waitFor(() => expect(clocks.filter((clock) => clock.isTicking()).length).toBe(1), MINUTE)
        await page.getByRole('region', { name: 'Circuits now: 1' }).waitFor()
        expect(problems).toEqual([])
        for (const clock of clocks) clock.close()
      },
    )

    it('keep traffic and lay new circuits when the one that holds a router is killed and comes back', {
      timeout: 5 * MINUTE,
    }, async () => {
      const clocks = [await openClock(byRouter), await openClock(byProxy)]
      for (const port of ports) {
        await killController(port)
        await sleep(2000)
        expect(clocks.map((clock) => clock.isTicking())).toEqual([true, true])
        await startController(port)
        const took = [await fetchFile(byRouter, MINUTE), await fetchFile(byProxy, MINUTE)]
        console.log(`new circuits after a controller came back took ${took.join(' and ')} ms`)
      }
      expect(clocks.map((clock) => clock.isTicking())).toEqual([true, true])
      for (const clock of clocks) clock.close()
    })
  },
)
