import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { enroll, type Identity, openIdentity } from 'portcullis/sdk'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePorts } from '../../../examples/traffic/web.ts'
import { endAll, portcullis, portIn, workersOf } from './cli-process.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
const variables = { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password }
const PATIENCE_MS = 180_000
/** A worker that is started anew compiles all of it, which takes a busy machine long. */
const RESTART = { timeout: 60_000 }
const NAMES = ['edge', 'edge-2'] as const
let cwd: string
const opened: Identity[] = []

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-router-workers-'))
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((identity) => identity.close()))
  endAll()
  await rm(cwd, { recursive: true, force: true, maxRetries: 10 })
})

describe.skipIf(process.platform !== 'linux')('portcullis serve --workers --router', { timeout: PATIENCE_MS }, () => {
  it('runs a router in each worker; who is at one reaches a host at the other, also after a worker was killed', async () => {
    // The port behind each is for the second worker.
    const [control = 0, edge = 0] = await freePorts(2)
    const where = ['--control-listen', `127.0.0.1:${control}`, '--router-listen', `127.0.0.1:${edge}`]
    const running = portcullis(
      ['serve', '--listen', '127.0.0.1:0', '--workers', '2', ...where, '--router', '--router-name', 'edge'],
      { cwd, variables },
    )
    const port = portIn(await running.ready)
    const notes = running.stderrSoFar()
    for (const [at, name] of NAMES.entries()) {
      expect(notes).toContain(`the edge router '${name}' takes SDKs, tunnelers and links at 127.0.0.1:${edge + at}`)
    }
    const ca = await readFile(join(cwd, '.portcullis/pki/ca.pem'), 'utf8')
    const anonymous = createManagementClient({ baseUrl: `https://127.0.0.1:${port}`, fetch: httpsFetch({ ca }) })
    const { data: session } = await anonymous.call('POST /authenticate', { query: { method: 'password' }, body: ADMIN })
    const admin = anonymous.withToken(session.token)
    const online = async () => (await admin.call('GET /edge-routers', {})).data.filter(({ isOnline }) => isOnline)
    await vi.waitFor(async () => expect((await online()).map(({ name }) => name).sort()).toEqual(NAMES))

    // The client may use the router of one worker, the host that of the other.
    const { data: routers } = await admin.call('GET /edge-routers', {})
    const idOf = (name: string) => routers.find((router) => router.name === name)?.id
    const semantic = 'AnyOf' as const
    await admin.call('POST /services', { body: { name: 'app', encryptionRequired: true } })
    await admin.call('POST /service-edge-router-policies', {
      body: { name: 'all', semantic, serviceRoles: ['#all'], edgeRouterRoles: ['#all'] },
    })
    for (const [at, name] of (['host', 'client'] as const).entries()) {
      await admin.call('POST /edge-router-policies', {
        body: { name, semantic, identityRoles: [`#${name}`], edgeRouterRoles: [`@${idOf(NAMES[at] ?? '')}`] },
      })
      await admin.call('POST /service-policies', {
        body: {
          ...{ name, semantic, serviceRoles: ['#all'], identityRoles: [`#${name}`] },
          type: name === 'host' ? 'Bind' : 'Dial',
        },
      })
    }
    const identity = async (name: string) => {
      const body = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [name], enrollment: { ott: true } }
      const { data } = await admin.call('POST /identities', { body })
      const shown = await admin.call('GET /identities/{id}', { params: { id: data.id } })
      const made = await openIdentity(await enroll(shown.data.enrollment.ott?.jwt ?? ''))
      opened.push(made)
      return made
    }
    const [host, client] = [await identity('host'), await identity('client')]
    await host.host('app', (_request, response) => response.end('it came'))
    const read = async () => (await client.fetch('http://app/')).text()
    await vi.waitFor(async () => expect(await read()).toBe('it came'))

    for (const worker of workersOf(running.pid)) {
      process.kill(worker, 'SIGKILL')
      await vi.waitFor(() => expect(workersOf(running.pid).filter((pid) => pid !== worker)).toHaveLength(2), RESTART)
      await vi.waitFor(async () => expect(await read()).toBe('it came'), RESTART)
    }
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it.each([
    [[], /--router with --workers needs --control-listen HOST:PORT/],
    [['--control-listen', '127.0.0.1:6262'], /--router with --workers needs --router-listen HOST:PORT/],
    [
      ['--control-listen', '127.0.0.1:6262', '--router-listen', '127.0.0.1:6263'],
      /--router-listen with --workers 2 takes the ports 6263 to 6264, which have to be free/,
    ],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await portcullis(['serve', '--workers', '2', '--router', ...args], { cwd, variables })
      .ended
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
