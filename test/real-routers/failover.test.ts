import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPkiMaterial } from 'portcullis'
import { routerSide } from 'portcullis/fabric'
import { httpsFetch } from 'portcullis/node'
import { FakeRouter } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { enrollDevice, enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, logIn } from '../../examples/traffic/network.ts'
import { fetchFile, freePorts, openClock, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'
import { startPostgres } from '../support/postgres.ts'
import type { ServedProcessTask } from '../support/served-process.ts'
import { adminToken, enrollTlsRouter, overTls } from '../support/tls-router.ts'

const { CONTENT_TYPE, Subscribe } = routerSide
const PROGRAM = fileURLToPath(new URL('../support/served-process.ts', import.meta.url))
const ADMIN = { username: 'admin', password: 'admin-password' }
const ziti = findZiti()
const MINUTE = 60_000

if (ziti === undefined) {
  console.warn(
    'SKIPPED: no real router lost its controller, because there is no `ziti` on the path and ZITI names none',
  )
}

async function start(task: ServedProcessTask): Promise<ChildProcess> {
  const child = fork(PROGRAM, { execArgv: ['--conditions=portcullis-source'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.send(task)
  await once(child, 'message')
  return child
}

describe.skipIf(ziti === undefined)('a real router whose controller is killed', () => {
  it('goes on at the other one with the model as of now, and cuts nobody', { timeout: 6 * MINUTE }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-failover-'))
    const file = (name: string) => join(folder, name)
    const database = await startPostgres()
    onTestFinished(() => database.stop())
    const processes = new ZitiProcesses(ziti ?? '')
    const web = await serveWeb()
    onTestFinished(async () => {
      web.close()
      await processes.stop()
    })
    const pki = await createPkiMaterial({ hosts: ['127.0.0.1'], trustDomain: 'test', now: Date.now() })
    const [here = 0, there = 0, linkPort = 0, edgePort = 0, byProxy = 0] = await freePorts(5)
    const at = (port: number) => ({ host: '127.0.0.1', port })
    const common = { url: database.url, pki, admin: ADMIN }
    const first = await start({ ...common, port: here, others: [at(there)] })
    const second = await start({ ...common, port: there, others: [at(here)] })
    const https = httpsFetch({ ca: pki.caPem })
    const reach = (port: number) => ({
      fetch: (request: Request) => {
        const { pathname, search } = new URL(request.url)
        return https(new Request(`https://127.0.0.1:${port}${pathname}${search}`, request))
      },
    })
    const admin = await logIn(reach(here), ADMIN)

    // Both read the model while there is nearly nothing in it.
    for (const port of [here, there]) {
      const early = await enrollTlsRouter(reach(port), await adminToken(reach(port)), `bystander-${port}`)
      const bystander = new FakeRouter(early, overTls(port, early))
      await bystander.connect()
      const body = Subscribe.encode({ subscriptionId: 'mine', subscriptionDurationSeconds: 300 })
      bystander.send(CONTENT_TYPE.subscribeToModel, body)
      await bystander.next(({ contentType }) => contentType === CONTENT_TYPE.modelState)
    }

    await createNetwork(admin, web.port)
    const id = await enrollRouter(admin, ziti ?? '', { name: 'router' }, { files: file('router'), linkPort, edgePort })
    processes.start(file('router.log'), ['router', 'run', file('router.yml')])
    await expect
      .poll(async () => (await admin.call('GET', `/edge-routers/${id}`)).isOnline, { timeout: MINUTE })
      .toBe(true)
    for (const [name, role] of [
      ['host', 'hosts'],
      ['client', 'clients'],
    ] as const) {
      await enrollDevice(admin, ziti ?? '', { name, role, files: file(name) })
    }
    processes.start(file('host.log'), ['tunnel', 'host', '--identity', file('host.json')])
    processes.start(file('client.log'), ['tunnel', 'proxy', '--identity', file('client.json'), `web:${byProxy}`])
    await fetchFile(byProxy, MINUTE)
    const clock = await openClock(byProxy)
    for (let count = 0; count < 100; count += 1) {
      await admin.create('/identities', { name: `n${count}`, type: 'Device', isAdmin: false })
    }
    expect(clock.isTicking()).toBe(true)

    // A process compares routers that follow it.
    const isFollowed = await admin.call('POST', `/portcullis/v1/routers/${id}/validate-data-model`).then(
      () => true,
      () => false,
    )
    const [killed, survivor] = isFollowed ? [first, there] : [second, here]
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const other: Admin = await logIn(reach(survivor), ADMIN)
    const late = await other.create('/identities', { name: 'late', type: 'Device', isAdmin: false })
    const compare = () =>
      other.call('POST', `/portcullis/v1/routers/${id}/validate-data-model`).then(
        ({ differenceCount }) => differenceCount,
        (error: unknown) => String(error),
      )
    await expect.poll(compare, { timeout: MINUTE, interval: 500 }).toBe(0)
    await other.call('DELETE', `/identities/${late}`)
    await expect.poll(compare, { timeout: 10_000, interval: 500 }).toBe(0)
    await sleep(5000)
    expect(clock.isTicking()).toBe(true)
    clock.close()
    console.log(
      `a new circuit at the other controller took ${await fetchFile(byProxy, MINUTE)} ms; logs are in ${folder}`,
    )
  })
})
