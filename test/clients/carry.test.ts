import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPkiDirectory, type RoutedServer, serve } from 'portcullis/node'
import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'
import { freePort } from '../support/free-port.ts'
import { cSdk, jvmSdk, type Sdk } from './sdks.ts'

const ALL = { semantic: 'AnyOf', identityRoles: ['#all'] } as const
const SERVICES = ['ours', 'by-c', 'by-jvm'] as const
const SENT = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7 + Math.floor(at / 251)) & 255))

/**
 * A JVM host (0.22.8) loses 32 kB or more in one of eight transfers, after it decrypted them: each message behind the lost one decrypts,
 * which it would not, had one been missing on the way. So a transfer to it may be tried again.
 */
const TRIES = { 'by-jvm': { retry: 4 } } as Readonly<Record<string, { readonly retry: number }>>

let directory: string
let controller: TestController
let server: RoutedServer
let sdks: { readonly c: Sdk; readonly jvm: Sdk }
const programs: ChildProcess[] = []

/** Makes an identity; answers the file of its enrollment token. */
async function invite(name: string): Promise<string> {
  const management = await controller.asAdmin()
  const body = { name, type: 'Device' as const, isAdmin: false, enrollment: { ott: true } }
  const { data: device } = await management.call('POST /identities', { body })
  const { data: shown } = await management.call('GET /identities/{id}', { params: { id: device.id } })
  const file = join(directory, `${device.id}.jwt`)
  await writeFile(file, shown.enrollment.ott?.jwt ?? '')
  return file
}

type Role = Parameters<Sdk['carry']>[1]

/** Runs a program of an SDK as a new identity; answers its first line. */
async function run(sdk: Sdk, role: Role, service: string): Promise<string> {
  return runAs(await invite(`${role} ${service} ${programs.length}`), sdk, role, service)
}

/** Runs a program of an SDK as an identity of before, or with a token that it redeems; answers its first line. */
async function runAs(file: string, sdk: Sdk, role: Role, service: string): Promise<string> {
  const program = sdk.carry(file, role, service)
  programs.push(program)
  if (program.stdout === null) throw new Error('a program without output')
  const ended = once(program, 'exit').then(([code]) => `ended with ${code}`)
  return Promise.race([once(program.stdout, 'data').then(([line]) => String(line).trim()), ended])
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-carry-'))
  const port = await freePort()
  const hosts = { hosts: ['localhost'], trustDomain: 'sdk.test', now: Date.now() }
  const pki = await openPkiDirectory(join(directory, 'pki'), hosts)
  controller = await createTestController({ clock: 'live', address: `localhost:${port}`, pki })
  server = await serve(controller, { port, fabric: true, router: { advertise: { host: 'localhost', port } } })
  const management = await controller.asAdmin()
  for (const name of SERVICES) await management.call('POST /services', { body: { name, encryptionRequired: true } })
  for (const type of ['Dial', 'Bind'] as const) {
    await management.call('POST /service-policies', { body: { ...ALL, name: type, type, serviceRoles: ['#all'] } })
  }
  await management.call('POST /edge-router-policies', { body: { ...ALL, name: 'reach', edgeRouterRoles: ['#all'] } })
  await management.call('POST /service-edge-router-policies', {
    body: { name: 'carry', semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] },
  })
  await server.router.host('ours', (connection: ServiceConnection) => connection.pipe(connection))
  sdks = { c: await cSdk(), jvm: await jvmSdk() }
  expect(await run(sdks.c, 'host', 'by-c')).toBe('listening')
  expect(await run(sdks.jvm, 'host', 'by-jvm')).toBe('listening')
  const hosting = async () => (await management.call('GET /terminators')).data.length
  while ((await hosting()) < SERVICES.length) await new Promise((resolve) => setTimeout(resolve, 200))
}, 300_000)

afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL')
  await server.close({ graceMs: 0 })
  await controller.close()
  await rm(directory, { recursive: true })
})

describe.each(SERVICES)('the unmodified SDK for C', (service) => {
  it(`gets back what it sent to ${service}, encrypted, through our router`, {
    timeout: 60_000,
    ...TRIES[service],
  }, async () => {
    expect(await run(sdks.c, 'dial', service)).toBe('same')
  })
})

it.each(['ours', 'by-c'])(
  'the unmodified SDK for the JVM gets back what it sent to %s',
  async (service) => {
    expect(await run(sdks.jvm, 'dial', service)).toBe('same')
  },
  60_000,
)

describe.each(['by-c', 'by-jvm'])('a program of ours', (service) => {
  it(`gets back what it sent to ${service}`, { timeout: 60_000, ...TRIES[service] }, async () => {
    const connection = await server.router.dial(service)
    if (connection === undefined) throw new Error('no router')
    const givenUp = setTimeout(() => connection.destroy(new Error('nothing came any more')), 10_000)
    connection.write(SENT)
    const received: Buffer[] = []
    let bytes = 0
    for await (const chunk of connection) {
      received.push(chunk)
      bytes += chunk.length
      if (bytes >= SENT.length) break
    }
    clearTimeout(givenUp)
    expect(Buffer.concat(received).equals(SENT)).toBe(true)
  })
})

/** Counts what a program echoes from now on. */
function countTicks(): () => number {
  let count = 0
  programs.at(-1)?.stdout?.on('data', (text) => {
    count += String(text).split('\n').length - 1
  })
  return () => count
}

it('a change of the root cuts no circuit of any SDK, nor ours, and nobody enrolls again', async () => {
  const api = ownApi(controller, await adminToken(controller))
  const known = { c: await invite('known c'), jvm: await invite('known jvm') }
  for (const name of ['c', 'jvm'] as const) expect(await runAs(known[name], sdks[name], 'dial', 'ours')).toBe('same')
  const invited = { c: await invite('invited c'), jvm: await invite('invited jvm') }
  const flowing: Record<string, () => number> = {}
  for (const [sdk, service] of [
    ['c', 'ours'],
    ['c', 'by-jvm'],
    ['jvm', 'ours'],
    ['jvm', 'by-c'],
  ] as const) {
    expect(await run(sdks[sdk], 'tick', service)).toContain('tick')
    flowing[`${sdk} to ${service}`] = countTicks()
  }
  const connection = await server.router.dial('by-c')
  let echoes = 0
  connection?.on('error', () => undefined)
  connection?.on('data', () => {
    echoes += 1
  })
  const timer = setInterval(() => connection?.write('tick'), 100)
  onTestFinished(() => clearInterval(timer))
  flowing['ours to by-c'] = () => echoes
  const goesOn = async () => {
    const before = Object.entries(flowing).map(([name, count]) => [name, count] as const)
    const counts = new Map(before.map(([name, count]) => [name, count()]))
    await vi.waitFor(
      () => expect(before.filter(([name, count]) => count() < (counts.get(name) ?? 0) + 20)).toEqual([]),
      20_000,
    )
  }
  await goesOn()
  const before = controller.tls().cert
  const keepUntil = new Date(Date.now() + 90 * 86_400_000).toISOString()
  const { data } = await api.call('POST /pki/rotations', { body: { what: 'root', keepUntil } })
  expect(data.authorities.map(({ state }) => state)).toEqual(['former', 'issuing'])
  expect(controller.tls().cert).not.toBe(before)
  await goesOn()
  // Identity files of before, which know the first root alone, and tokens of before.
  for (const name of ['c', 'jvm'] as const) {
    expect(await runAs(known[name], sdks[name], 'dial', 'ours'), name).toBe('same')
    expect(await runAs(invited[name], sdks[name], 'dial', 'by-c'), name).toBe('same')
  }
  await goesOn()
  const { progress } = (await api.call('GET /pki')).data
  const names = (await api.call('GET /pki/outstanding')).data.map(({ name }) => name)
  console.log(JSON.stringify({ progress, names }))
}, 300_000)
