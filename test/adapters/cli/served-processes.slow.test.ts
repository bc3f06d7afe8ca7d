import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClientCertificate } from '../../contract/http/mount.ts'
import { newKey, signingRequest } from '../../contract/http/signing-request.ts'
import { type ServedController, serveOn, textIn } from '../../crash/served-controller.ts'
import { createDatabase, type PostgresDatabase } from '../../support/postgres.ts'
import { endAll } from './cli-process.ts'

const TRIES = 60
const directory = mkdtempSync(join(tmpdir(), 'portcullis-processes-'))
let database: PostgresDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(async () => {
  endAll()
  await database.drop()
  rmSync(directory, { recursive: true, maxRetries: 10 })
})

describe.each([
  ['SQLite', () => 'sqlite:shared.db'],
  ['PostgreSQL', () => database.url],
])('three processes that serve one database in %s', (name, storage) => {
  const cwd = join(directory, name)
  let processes: readonly ServedController[] = []
  let device: { readonly id: string; readonly certificate: ClientCertificate; readonly token: string }
  let serviceId: string

  /** A process by its number, which may be too high: then they are counted anew. */
  const at = (index: number): ServedController => {
    const found = processes[index % processes.length]
    if (found === undefined) throw new Error('no process')
    return found
  }
  const asDevice = async (index: number, method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'zt-session': device.token }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await at(index).fetch(`/edge/client/v1${path}`, { method, headers, ...sent }, device.certificate)
    // Every answer of the API is such an envelope.
    const { data } = (await response.json()) as { readonly data?: unknown }
    return { status: response.status, data }
  }
  const create = async (index: number, path: string, body: object): Promise<string> => {
    const { status, data } = await at(index).ask('POST', path, body)
    expect(status).toBe(201)
    return textIn(data, 'id')
  }
  /** Pauses a process that holds no lock of the database: others could not write then. The first write of another one shows it. */
  const pauseBetweenWrites = async (paused: ServedController, name: string) => {
    for (;;) {
      paused.pause()
      const { status } = await at(0).ask('POST', '/services', { name, encryptionRequired: true })
      if (status === 201) return
      expect(status).toBe(503)
      paused.resume()
    }
  }
  const identity = (name: string) => ({
    name,
    type: 'Default',
    isAdmin: false,
    roleAttributes: ['people'],
    enrollment: { ott: true },
  })
  const tokenOf = async (index: number, id: string): Promise<string> => {
    const { data } = await at(index).ask('GET', `/identities/${id}`)
    const [, token = ''] = /"ott":\{[^}]*"token":"([^"]+)"/.exec(JSON.stringify(data)) ?? []
    return token
  }
  const enroll = async (index: number, token: string, clientCsr: string) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ token, clientCsr })
    return at(index).fetch('/edge/client/v1/enroll/ott', { method: 'POST', headers, body })
  }

  beforeAll(async () => {
    mkdirSync(cwd)
    const first = await serveOn(storage(), cwd)
    // The API session of the admin that the first one began is good at the others.
    const others = await Promise.all([serveOn(storage(), cwd, first.token), serveOn(storage(), cwd, first.token)])
    processes = [first, ...others]

    const id = await create(0, '/identities', identity('device'))
    const key = newKey()
    const answer = await enroll(1, await tokenOf(2, id), signingRequest(key))
    const { data: enrolled } = (await answer.json()) as { readonly data?: unknown }
    const certificate = { cert: textIn(enrolled, 'cert'), key }
    const headers = { 'content-type': 'application/json' }
    const login = { method: 'POST', headers, body: '{}' }
    const session = await at(2).fetch('/edge/client/v1/authenticate?method=cert', login, certificate)
    const { data } = (await session.json()) as { readonly data?: unknown }
    device = { id, certificate, token: textIn(data, 'token') }

    serviceId = await create(0, '/services', { name: 'web', encryptionRequired: true })
    await create(1, '/edge-routers', { name: 'router' })
    const everything = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
    await create(2, '/edge-router-policies', { name: 'all', ...everything, identityRoles: ['#all'] })
    await create(0, '/service-edge-router-policies', { name: 'all', ...everything, serviceRoles: ['#all'] })
    const checkId = await create(1, '/posture-checks', { name: 'domain', typeId: 'DOMAIN', domains: ['corp.example'] })
    await create(2, '/service-policies', {
      name: 'dial',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#people'],
      serviceRoles: ['#all'],
      postureCheckRoles: [`@${checkId}`],
    })
  })
  afterAll(() => Promise.all(processes.map((process) => process.kill())))

  it(`consume a one-time token exactly once under ${TRIES} tries at the same time`, async () => {
    const token = await tokenOf(1, await create(0, '/identities', identity('laptop')))
    const csr = signingRequest(newKey())
    const answers = await Promise.all(Array.from({ length: TRIES }, (_, index) => enroll(index, token, csr)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
    expect((await at(0).ask('GET', '/authenticators?filter=method%3D%22cert%22')).totalCount).toBe(2)
  })

  it('share API sessions, posture and sessions, and what ends at one is over at the others at once', async () => {
    for (const index of [0, 1, 2]) expect((await asDevice(index, 'GET', '/current-api-session')).status).toBe(200)
    expect((await asDevice(1, 'POST', '/sessions', { serviceId, type: 'Dial' })).status).toBe(409)
    const report = { id: 'any', typeId: 'DOMAIN', domain: 'corp.example' }
    for (let round = 0; round < 6; round += 1) {
      expect((await asDevice(round, 'POST', '/posture-response', report)).status).toBe(201)
      const { status, data } = await asDevice(round + 1, 'POST', '/sessions', { serviceId, type: 'Dial' })
      expect(status).toBe(201)
      const path = `/sessions/${textIn(data, 'id')}`
      expect((await asDevice(round + 2, 'GET', path)).status).toBe(200)
      const failing = { ...report, domain: 'elsewhere.example' }
      if (round % 2 === 0) expect((await at(round).ask('DELETE', path)).status).toBe(200)
      else expect((await asDevice(round, 'POST', '/posture-response', failing)).status).toBe(201)
      expect((await asDevice(round + 1, 'GET', path)).status).toBe(404)
      expect((await asDevice(round + 2, 'GET', path)).status).toBe(404)
    }
    expect((await asDevice(0, 'DELETE', '/current-api-session')).status).toBe(200)
    for (const index of [1, 2]) expect((await asDevice(index, 'GET', '/current-api-session')).status).toBe(401)
  })

  it('catch up with their next answer after they were paused', async () => {
    const paused = at(1)
    expect((await paused.ask('GET', '/services')).totalCount).toBe(1)
    const later = Array.from({ length: 19 }, (_, index) => `later${index}`)
    await pauseBetweenWrites(paused, 'first')
    const asked = paused.ask('GET', `/identities/${device.id}/services`)
    // A failure below must not leave it without a listener.
    asked.catch(() => undefined)
    for (const [index, name] of later.entries()) {
      await create(index % 2 === 0 ? 0 : 2, '/services', { name, encryptionRequired: true })
    }
    await at(0).ask('PATCH', `/identities/${device.id}`, { roleAttributes: ['moved'] })
    await at(2).ask('PATCH', `/identities/${device.id}`, { roleAttributes: ['people', 'moved'] })
    paused.resume()
    expect((await asked).status).toBe(200)
    expect((await paused.ask('GET', '/services')).totalCount).toBe(2 + later.length)
    expect((await paused.ask('GET', `/identities/${device.id}/services`)).totalCount).toBe(2 + later.length)
    const { data } = await paused.ask('GET', `/identities/${device.id}`)
    expect(data).toMatchObject({ roleAttributes: ['moved', 'people'] })
  })
})
