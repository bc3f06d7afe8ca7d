import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Controller, createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Admin, logIn } from '../../../examples/traffic/network.ts'
import { freePorts } from '../../../examples/traffic/web.ts'
import { until } from '../../support/linked-network.ts'
import { portcullis } from './cli-process.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
let folder: string
let controller: Controller
let server: RunningServer
let admin: Admin
let id: string
let port = 0

const run = (...args: readonly string[]) => portcullis(['router', ...args], { cwd: folder })
const isOnline = async () => (await admin.call('GET', `/edge-routers/${id}`)).isOnline

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-router-'))
  const [apis = 0, own = 0] = await freePorts(2)
  port = own
  controller = await createController({ storage: memoryStorage(), address: `127.0.0.1:${apis}`, admin: ADMIN })
  server = await serve(controller, { port: apis, fabric: true })
  admin = await logIn(controller, ADMIN)
  id = await admin.create('/edge-routers', { name: 'edge-1', isTunnelerEnabled: false })
  const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
  await writeFile(join(folder, 'edge-1.jwt'), String(enrollmentJwt))
})
afterAll(async () => {
  await server.close({ graceMs: 0 })
  await controller.close()
  await rm(folder, { recursive: true })
})

describe('portcullis router', () => {
  it('enrolls once, into one file for its owner alone', async () => {
    const enrolled = await run('enroll', 'edge-1.jwt', '--listen', `127.0.0.1:${port}`).ended
    expect([enrolled.code, enrolled.stderr]).toEqual([0, ''])
    expect(enrolled.stdout).toContain(`router ${id} is enrolled`)
    expect((await stat(join(folder, 'router.json'))).mode & 0o777).toBe(0o600)
    const again = await run('enroll', 'edge-1.jwt').ended
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--force replaces it')])
    const used = await run('enroll', 'edge-1.jwt', '--file', 'other.json').ended
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('refused the enrollment')])
    const wild = await run('enroll', 'edge-1.jwt', '--file', 'wild.json', '--listen', '0.0.0.0:3022').ended
    expect([wild.code, wild.stderr]).toEqual([2, expect.stringContaining('--advertise')])
  })

  it('enrolls by a token that names no controller, where an option names one; else the token is not used up', async () => {
    const [apis = 0] = await freePorts(1)
    const alone = await createController({ storage: memoryStorage(), address: `127.0.0.1:${apis}`, admin: ADMIN })
    const served = await serve(alone, { port: apis })
    try {
      const keeper = await logIn(alone, ADMIN)
      const other = await keeper.create('/edge-routers', { name: 'edge-2', isTunnelerEnabled: false })
      const { enrollmentJwt } = await keeper.call('GET', `/edge-routers/${other}`)
      await writeFile(join(folder, 'edge-2.jwt'), String(enrollmentJwt))
      const unnamed = await run('enroll', 'edge-2.jwt', '--file', 'edge-2.json').ended
      expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('--controller HOST:PORT')])
      const named = await run('enroll', 'edge-2.jwt', '--file', 'edge-2.json', '--controller', '127.0.0.1:6262').ended
      expect([named.code, named.stderr]).toEqual([0, ''])
      expect(JSON.parse(await readFile(join(folder, 'edge-2.json'), 'utf8')).identity.controllers).toEqual([
        'tls:127.0.0.1:6262',
      ])
    } finally {
      await served.close({ graceMs: 0 })
      await alone.close()
    }
  })

  it('is examined: certificates, addresses, the controllers that let it in, and who may read its file', async () => {
    const { code, stdout } = await run('doctor', '--json').ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout).map(({ level, about }: Record<string, string>) => `${level} ${about}`)).toEqual([
      'ok certificates',
      'ok addresses',
      'ok controllers',
    ])
    await chmod(join(folder, 'router.json'), 0o644)
    const file = JSON.parse(await readFile(join(folder, 'router.json'), 'utf8'))
    await writeFile(join(folder, 'moved.json'), JSON.stringify({ ...file, advertise: 'elsewhere.example.org:3022' }))
    const moved = await run('doctor', '--file', 'moved.json').ended
    expect(moved.code).toBe(3)
    expect(moved.stdout).toContain('does not name elsewhere.example.org')
    expect(moved.stdout).toContain('others may read it')
    const none = await run('doctor', '--file', 'nowhere.json').ended
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no file nowhere.json')])
  })

  it('runs until it is asked to stop, renews its certificates, and is online again by them', async () => {
    const before = await readFile(join(folder, 'router.json'), 'utf8')
    const first = run('run', '--renew-certificates', '--stop-within', '1')
    expect(await first.ready).toContain(`runs at 127.0.0.1:${port}`)
    await until(isOnline, true)
    await until(async () => (await readFile(join(folder, 'router.json'), 'utf8')) !== before, true)
    first.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
    await until(isOnline, false)
    const second = run('run')
    await second.ready
    await until(isOnline, true)
    second.kill('SIGINT')
    expect((await second.ended).code).toBe(0)
  })
})
