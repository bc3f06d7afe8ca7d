/** A whole network by the command line alone: controller with its router, a router of a machine, and two tunnels. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePorts } from '../../../examples/traffic/web.ts'
import { until } from '../../support/linked-network.ts'
import { endAll, portcullis, type Running } from './cli-process.ts'

const ADMIN = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
let cwd: string
let url: string
let served: Running
const behind = createServer((request, response) => response.end(`read ${request.url}`))

const start = (...args: readonly string[]) => portcullis(args, { cwd })

/** Runs a command as the admin to its end, and answers what it printed. */
async function ask(...args: readonly string[]): Promise<string> {
  const asked = [...args, '--url', url, '--ca', '.portcullis/pki/ca.pem']
  const { code, stdout, stderr } = await portcullis(asked, { cwd, variables: ADMIN }).ended
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return stdout
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-network-'))
  const [port = 0] = await freePorts(1)
  url = `https://127.0.0.1:${port}`
  behind.listen(0, '127.0.0.1')
  await once(behind, 'listening')
  served = portcullis(['serve', '--router', '--listen', `127.0.0.1:${port}`], { cwd, variables: ADMIN })
  await served.ready
  const anyOf = ['--semantic', 'AnyOf']
  const everywhere = [...anyOf, '--edge-router-roles', '#all']
  await ask('services', 'create', '--name', 'payroll', '--encryption-required', 'true')
  for (const [type, role] of [
    ['Dial', '#staff'],
    ['Bind', '#hosts'],
  ] as const) {
    const roles = ['--identity-roles', role, '--service-roles', '#all']
    await ask('service-policies', 'create', '--name', type, '--type', type, ...anyOf, ...roles)
  }
  await ask('edge-router-policies', 'create', '--name', 'all', ...everywhere, '--identity-roles', '#all')
  await ask('service-edge-router-policies', 'create', '--name', 'all', ...everywhere, '--service-roles', '#all')
  for (const [name, role] of [
    ['laptop', 'staff'],
    ['box', 'hosts'],
  ] as const) {
    await ask('invite', name, '--attributes', role, '--out', `${name}.jwt`)
    expect((await start('tunnel', 'enroll', `${name}.jwt`).ended).code).toBe(0)
  }
}, 120_000)

afterAll(async () => {
  endAll()
  behind.close()
  await rm(cwd, { recursive: true, force: true, maxRetries: 10 })
})

it('says at the start that a router runs, by its name, and where it is reached', () => {
  expect(served.stderrSoFar()).toContain(
    `the edge router 'portcullis' takes SDKs, tunnelers and links at ${url.slice(8)}`,
  )
})

it('carries a page from a program behind one tunnel to one at another, and tells of what it may not carry', async () => {
  const [port = 0, other = 0] = await freePorts(2)
  const address = `127.0.0.1:${Object(behind.address()).port}`
  const host = start('tunnel', 'host', '--identity', 'box.json', `payroll=${address}`)
  expect(await host.ready).toBe(`payroll is answered by ${address}`)
  const proxy = start('tunnel', 'proxy', '--identity', 'laptop.json', `payroll:${port}`, `wiki:${other}`)
  await proxy.ready
  expect(await (await fetch(`http://127.0.0.1:${port}/slips`)).text()).toBe('read /slips')
  await until(async () => proxy.stderrSoFar().includes('wiki: no policy lets this identity dial it now'), true)
  expect(proxy.stderrSoFar()).not.toContain('payroll: no policy')
  await expect(fetch(`http://127.0.0.1:${other}/`)).rejects.toThrow()
  await until(async () => proxy.stderrSoFar().includes('wiki: there is no such service for this identity'), true)
  expect(proxy.stderrSoFar()).not.toContain('wiki: wiki:')
  const twice = await start('tunnel', 'proxy', '--identity', 'laptop.json', `payroll:${port}`).ended
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('is already in use')])
  expect(await ask('terminators', 'list')).toMatch(/^id +serviceId +routerId +binding /)
}, 60_000)

it('is joined by a router of another machine, which is examined while it runs', async () => {
  const [port = 0] = await freePorts(1)
  await ask('invite', 'edge-1', '--router', '--out', 'edge-1.jwt')
  expect((await start('router', 'enroll', 'edge-1.jwt', '--listen', `127.0.0.1:${port}`).ended).code).toBe(0)
  const router = start('router', 'run')
  await router.ready
  await until(async () => router.stderrSoFar().includes('link.open'), true, 20_000)
  const { code, stdout } = await start('router', 'doctor').ended
  expect([code, stdout]).toEqual([0, expect.stringContaining('has it connected already: it runs')])
}, 60_000)
