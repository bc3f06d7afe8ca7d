import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { enrollDevice, openIdentity } from 'portcullis/sdk'
import { startTestServer, type TestServer } from 'portcullis/testing'
import setup, { teardown } from 'portcullis/testing/global-setup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const MODEL = {
  identities: [
    { name: 'laptop', type: 'Device', isAdmin: false, roleAttributes: ['staff'] },
    { name: 'box', type: 'Device', isAdmin: false },
  ],
  services: [{ name: 'wiki' }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['@wiki'] },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@box'], serviceRoles: ['@wiki'] },
  ],
} as const

/** The members of answers that tests read. */
type AnyAnswer = readonly object[] & Readonly<Record<'now' | 'name', string>>

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ model: MODEL, router: true })
})
afterAll(() => server.close())

async function control(method: string, path: string, body?: object | string) {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  const response = await fetch(`${server.facts.control}${path}`, { method, ...sent })
  return { status: response.status, body: (await response.json()) as AnyAnswer }
}

describe('a throwaway controller', () => {
  it('has a network whose identities are invited to its own address', async () => {
    const { invitations, url } = server.facts
    expect(Object.keys(invitations).toSorted()).toEqual(['box', 'laptop'])
    const device = await enrollDevice({ jwt: invitations.laptop ?? '' })
    expect(device.controller).toBe(url)
    await using laptop = await openIdentity(device)
    await using box = await openIdentity(await enrollDevice({ jwt: invitations.box ?? '' }))
    await using _hosted = await box.host('wiki', (request, response) => response.end(`for ${request.caller?.name}`))
    expect(await (await laptop.fetch('http://wiki/')).text()).toBe('for laptop')
  })

  it('is administered by the session that it tells', async () => {
    const { url, ca, admin } = server.facts
    const management = createManagementClient({ baseUrl: url, fetch: httpsFetch({ ca }), token: admin.token })
    expect((await management.call('GET /current-identity')).data.isDefaultAdmin).toBe(true)
  })

  it('has a control that turns the clock, injects faults, invites, and tells what was asked', async () => {
    const { url, ca, admin } = server.facts
    const management = createManagementClient({ baseUrl: url, fetch: httpsFetch({ ca }), token: admin.token })
    const before = Date.parse((await control('GET', '/clock')).body.now)
    const { now } = (await control('POST', '/clock', { elapseMs: 60_000 })).body
    expect(Date.parse(now) - before).toBeGreaterThanOrEqual(60_000)
    await control('POST', '/faults', { status: 503, route: 'GET /services' })
    await expect(management.call('GET /services')).rejects.toMatchObject({ status: 503 })
    await control('POST', '/faults', { drop: true, every: 1 })
    await expect(management.call('GET /services')).rejects.toMatchObject({ code: 'ECONNRESET' })
    await control('DELETE', '/faults')
    expect((await management.call('GET /services')).data.length).toBe(1)
    const asked = (await control('GET', '/requests')).body.slice(-3)
    expect(asked).toMatchObject([{ status: 503 }, { route: 'GET /services' }, { status: 200 }])
    expect((await control('POST', '/invitations', { name: 'phone', roleAttributes: ['staff'] })).body.name).toBe(
      'phone',
    )
    expect((await control('GET', '/reach?identity=phone')).body).toEqual({ dial: ['wiki'], bind: [] })
  })

  it.each([
    ['POST', '/clock', { elapseMs: -1 }, 400, 'takes 0 or more'],
    ['POST', '/clock', {}, 400, 'elapseMs is needed'],
    ['POST', '/faults', { status: 500 }, 400, 'takes 429 or 503'],
    ['POST', '/faults', { status: 503, route: 'GET /service' }, 400, "did you mean 'GET /services'?"],
    ['POST', '/invitations', { name: 'box2', admin: true }, 400, 'admin is no option of invitations'],
    ['POST', '/invitations', { name: 'laptop' }, 409, 'has enrolled already'],
    ['POST', '/clock', '{elapse', 400, 'the body is no JSON'],
    ['POST', '/faults', { statu: 503 }, 400, "not statu (did you mean 'status'?)"],
    ['GET', '/reach', undefined, 400, 'needs an identity'],
    ['POST', '/invitations', '[]', 400, 'no JSON object'],
    ['POST', '/invitations', 'x'.repeat(70_000), 400, 'too long'],
    ['GET', '/reach?identity=nobody', undefined, 400, "there is no identity 'nobody'"],
    ['GET', '/nothing', undefined, 404, 'GET /nothing is not there: GET /clock'],
  ])('answers a mistake of %s %s by name', async (method, path, body, status, words) => {
    const answer = await control(method, path, body)
    expect(answer).toEqual({ status, body: { error: expect.stringContaining(words) } })
  })

  it('lets nobody turn its clock who does not know the key', async () => {
    const { origin } = new URL(server.facts.control)
    for (const path of ['/clock', `/${'0'.repeat(32)}/clock`]) {
      expect((await fetch(`${origin}${path}`, { method: 'POST', body: '{"elapseMs":1}' })).status).toBe(404)
    }
  })
})

describe('portcullis test-server', () => {
  const flags = ['--conditions=portcullis-source', join(root, 'adapters/tools/cli/main.ts'), 'test-server']

  it('prints one line of JSON, and ends when its standard input does', async () => {
    const child = spawn(process.execPath, flags, { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    const [line] = await once(createInterface(child.stdout), 'line')
    expect(Object.keys(JSON.parse(line)).toSorted()).toEqual(['admin', 'ca', 'control', 'invitations', 'url'])
    child.stdin.end()
    expect(await ended).toEqual([0, null])
  })

  it('ends when its parent is killed', async () => {
    const program = `
      const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, ${JSON.stringify(flags)}, { stdio: ['ignore', 'inherit', 'inherit'] })
      console.error(child.pid)
    `
    const parent = spawn(process.execPath, ['--eval', program], { stdio: ['ignore', 'pipe', 'pipe'] })
    const [pid] = await once(createInterface(parent.stderr), 'line')
    await once(createInterface(parent.stdout), 'line')
    const isThere = () => {
      try {
        return execFileSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).trim().replace(/^Z.*/, '') !== ''
      } catch {
        return false
      }
    }
    expect(isThere()).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(isThere, { timeout: 10_000 }).toBe(false)
  })
})

it('a run of tests has one by its global setup', async () => {
  const end = await setup()
  const { PORTCULLIS_URL: baseUrl = '', PORTCULLIS_CA_PEM: ca = '', PORTCULLIS_TEST_SERVER: facts = '' } = process.env
  const anonymous = createManagementClient({ baseUrl, fetch: httpsFetch({ ca }) })
  expect((await anonymous.call('GET /version')).data.version).toMatch(/^v/)
  expect(JSON.parse(facts).url).toBe(baseUrl)
  await end()
  await expect(anonymous.call('GET /version')).rejects.toMatchObject({ code: expect.stringMatching(/^ECONN/) })
  await teardown()
})
