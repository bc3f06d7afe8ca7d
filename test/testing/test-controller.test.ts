import { X509Certificate } from 'node:crypto'
import { EVENT_NAMES } from 'portcullis'
import { createClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import {
  type AuthenticatorApp,
  assertAllows,
  assertDenies,
  createTestController,
  recordingLogger,
  type TestController,
} from 'portcullis/testing'
import 'portcullis/testing/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

const DAY_MS = 86_400_000
const MANAGED = { domain: 'corp.example' }

/** A network in which staff may dial the wiki from the company's domain. */
async function network(options: Parameters<typeof createTestController>[0] = {}) {
  const net = await createTestController(options)
  onTestFinished(() => net.close())
  const { admin } = net
  await admin.call('POST /services', { body: { name: 'wiki', roleAttributes: ['internal'] } })
  await admin.call('POST /posture-checks', {
    body: { name: 'managed', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['managed'] },
  })
  const roles = { semantic: 'AnyOf' as const, identityRoles: ['#staff'], serviceRoles: ['#internal'] }
  await admin.call('POST /service-policies', {
    body: { name: 'staff dial', type: 'Dial', ...roles, postureCheckRoles: ['#managed'] },
  })
  await admin.call('POST /edge-routers', { body: { name: 'router' } })
  const all = { semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
  await admin.call('POST /edge-router-policies', { body: { name: 'all', ...all, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { name: 'all', ...all, serviceRoles: ['#all'] } })
  return net
}

/** A code of an app that was not used yet. */
async function nextCode(net: TestController, app: AuthenticatorApp): Promise<string> {
  await net.elapse(30_000)
  return app.code()
}

describe('an endpoint', () => {
  it('enrolls with a key of its own, reports posture, and dials', async () => {
    const net = await network()
    const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
    expect(laptop.cert).toContain('BEGIN CERTIFICATE')
    expect(laptop.key).toContain('BEGIN PRIVATE KEY')
    await expect(laptop.dial('wiki')).rejects.toMatchObject({ code: 'INVALID_POSTURE' })
    await laptop.report(MANAGED)
    expect((await laptop.dial('wiki')).service?.name).toBe('wiki')
  })

  it('has the id of its identity once it asked for something, and says so before', async () => {
    const net = await createTestController({ model: 'identities:\n  - name: anna\n' })
    onTestFinished(() => net.close())
    const anna = net.as('anna')
    expect(() => anna.id).toThrow(/^the id of as\("anna"\) is known after its first request/)
    const { data } = await anna.call('GET /current-identity')
    expect([anna.id, net.as('anna').id]).toEqual([data.id, data.id])
    const phone = await net.enroll('phone')
    expect(net.as('phone').id).toBe(phone.id)
  })

  it('says in a program without types that it dials and hosts with a router', async () => {
    const net = await network()
    const laptop: object = await net.enroll('laptop')
    for (const endpoint of [laptop, net.as('server')]) {
      const untyped = endpoint as {
        host(name: string): Promise<void>
        fetch(url: string): Promise<void>
        agent: object
      }
      await expect(untyped.host('wiki')).rejects.toThrow('host needs a router: createTestController({ router: true })')
      await expect(untyped.fetch('http://wiki/')).rejects.toThrow('fetch needs a router')
      expect(() => untyped.agent).toThrow('agent needs a router')
    }
  })

  it('enrolls an identity that is there, with the invitation that it has or a new one', async () => {
    const net = await network()
    const body = { name: 'phone', type: 'Device' as const, isAdmin: false }
    const { id } = (await net.admin.call('POST /identities', { body })).data
    const phone = await net.enroll('phone')
    expect(phone.id).toBe(id)
    expect((await phone.call('GET /current-identity')).data.name).toBe('phone')
    const invited = { ...body, name: 'tablet', enrollment: { ott: true } }
    await net.admin.call('POST /identities', { body: invited })
    expect((await (await net.enroll('tablet')).call('GET /current-identity')).data.name).toBe('tablet')
  })

  it('needs no credentials where a test wants none, and is the device once there is one', async () => {
    const net = await network()
    await net.enroll('laptop', { roleAttributes: ['staff'] })
    await net.posture('laptop').report(MANAGED)
    expect((await net.as('laptop').dial('wiki')).type).toBe('Dial')
    const body = { name: 'server', type: 'Service' as const, isAdmin: false }
    await net.admin.call('POST /identities', { body })
    await expect(net.as('server').dial('wiki')).rejects.toMatchObject({ status: 404 })
    await expect(net.as('nobody').call('GET /services')).rejects.toThrow('nobody')
  })

  it('logs in again when its session is over', async () => {
    const net = await network()
    const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
    await laptop.call('GET /services')
    await net.elapse(DAY_MS)
    expect((await laptop.call('GET /services')).data).toHaveLength(1)
    expect((await net.admin.call('GET /services')).data).toHaveLength(1)
  })

  it('has an authenticator app, whose codes are good once', async () => {
    const net = await network()
    await net.enroll('laptop', { roleAttributes: ['staff'] })
    const app = await net.totp('laptop')
    expect(await app.code()).toMatch(/^\d{6}$/)
    const before = net.clock.now()
    await app.pass()
    await app.pass()
    expect(net.clock.now()).toBeGreaterThan(before)
    expect((await net.as('laptop').call('GET /current-identity/mfa')).data.isVerified).toBe(true)
  })
})

describe('assertions about access', () => {
  it('are a matcher, with circumstances', async () => {
    const net = await network()
    await net.enroll('laptop', { roleAttributes: ['staff'] })
    await expect(net).toAllow('laptop', 'Dial', 'wiki', { posture: MANAGED })
    await expect(net).not.toAllow('laptop', 'Dial', 'wiki')
    await expect(expect(net).toAllow('laptop', 'Dial', 'wiki')).rejects.toThrow('nothing was reported')
    const refused = expect(net).not.toAllow('laptop', 'Dial', 'wiki', { posture: MANAGED })
    await expect(refused).rejects.toThrow('expected laptop not to be allowed to Dial wiki')
  })

  it('fail for an identity or service that does not exist, and name it: a misspelled denial would hold for ever', async () => {
    const net = await network()
    await net.enroll('laptop', { roleAttributes: ['staff'] })
    const managed = { posture: MANAGED }
    await expect(expect(net).not.toAllow('lap-top', 'Dial', 'wiki')).rejects.toThrow("there is no identity 'lap-top'")
    await expect(expect(net).not.toAllow('laptop', 'Dial', 'wicki')).rejects.toThrow("there is no service 'wicki'")
    await expect(expect(net).toAllow('lap-top', 'Dial', 'wiki', managed)).rejects.toThrow("no identity 'lap-top'")
    await expect(assertDenies(net, 'lap-top', 'Dial', 'wiki')).rejects.toThrow("there is no identity 'lap-top'")
    await expect(assertDenies(net, 'laptop', 'Bind', 'wicki')).rejects.toThrow("there is no service 'wicki'")
    await expect(assertAllows(net, 'laptop', 'Dial', 'wicki', managed)).rejects.toThrow("there is no service 'wicki'")
  })

  it('take what was deleted as denied where a test says so', async () => {
    const net = await network()
    const { id } = await net.enroll('laptop', { roleAttributes: ['staff'] })
    await net.admin.call('DELETE /identities/{id}', { params: { id } })
    const circumstances = { posture: MANAGED, mayBeAbsent: true }
    await assertDenies(net, 'laptop', 'Dial', 'wiki', circumstances)
    await expect(net).not.toAllow('laptop', 'Dial', 'wiki', circumstances)
    await expect(assertAllows(net, 'laptop', 'Dial', 'wiki', circumstances)).rejects.toThrow('no such identity')
  })

  it('are functions for runners without matchers', async () => {
    const net = await network()
    await net.enroll('laptop', { roleAttributes: ['staff'] })
    await assertAllows(net, 'laptop', 'Dial', 'wiki', { posture: MANAGED })
    await assertDenies(net, 'laptop', 'Bind', 'wiki')
    const wrong = assertAllows(net, 'laptop', 'Bind', 'wiki')
    await expect(wrong).rejects.toMatchObject({ name: 'AssertionError', actual: false, expected: true })
    await expect(assertDenies(net, 'laptop', 'Dial', 'wiki', { posture: MANAGED })).rejects.toThrow('staff dial')
  })
})

describe('events', () => {
  it('are waited for', async () => {
    const net = await network()
    const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
    await laptop.report(MANAGED)
    const session = await laptop.dial('wiki')
    const ended = net.events.wait('session.ended', { where: ({ sessionId }) => sessionId === session.id })
    await laptop.report({ domain: 'elsewhere.example' })
    expect((await ended).reason).toBe('posture-failed')
  })

  it('that do not come are told, and nothing is left behind', async () => {
    const net = await network()
    const wait = net.events.wait('session.ended', { patienceMs: 20 })
    const told = "no event 'session.ended' came within 20 ms of the computer's clock, nor any other"
    await expect(wait).rejects.toThrow(told)
  })

  it("have as long as the test's clock says, and what is due at the last instant still comes", async () => {
    const net = await network()
    await (await net.enroll('laptop')).call('GET /services')
    const [soon, late] = [60_000, 30 * 60_000]
    const waits = [soon, late].map((withinMs) => net.events.wait('api-session.ended', { withinMs }))
    const ends = Promise.allSettled(waits)
    await net.elapse(late + 1)
    expect(await ends).toMatchObject([
      { reason: { message: "no event 'api-session.ended' came within 60000 ms of the test's clock, nor any other" } },
      { value: { reason: 'timeout' } },
    ])
    const never = net.events.wait('api-session.ended')
    await Promise.all([expect(never).rejects.toThrow('within 86400000 ms'), net.elapse(25 * 3_600_000)])
  })

  it('that come instead are told: of its name with what they say, others by their names', async () => {
    const net = await network()
    const where = ({ method }: { readonly method: string }) => method === 'cert'
    const wait = net.events.wait('authentication.attempted', { where, patienceMs: 200 })
    await net.asAdmin()
    const told =
      /within 200 ms of .*; these came: .*api-session\.started.*authentication\.attempted \{.*"method":"password"/
    await expect(wait).rejects.toThrow(told)
  })

  it('end a wait with what its condition throws, and are known by name', async () => {
    const net = await network()
    const where = () => {
      throw new Error('a mistake in the test')
    }
    const wait = net.events.wait('api-session.started', { where })
    await Promise.all([expect(wait).rejects.toThrow('a mistake in the test'), net.asAdmin()])
    const misspelled = "there is no event 'api-session.end' (did you mean 'api-session.ended'?)"
    // A program without types.
    const name = 'api-session.end' as 'api-session.ended'
    expect(() => net.events.on(name, () => undefined)).toThrow(misspelled)
    await expect(net.events.wait(name)).rejects.toThrow(misspelled)
  })

  it('are told to listeners that may fail, at once or later: that is logged, and nothing else happens', async () => {
    const logger = recordingLogger()
    const net = await network({ logger })
    const heard: string[] = []
    for (const name of EVENT_NAMES) {
      net.events.on(name, async () => {
        throw new Error(`${name}, later`)
      })
      net.events.on(name, () => {
        throw new Error(`${name}, at once`)
      })
      net.events.on(name, () => void heard.push(name))
    }
    const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
    await laptop.report(MANAGED)
    await laptop.dial('wiki')
    await laptop.report({ domain: 'elsewhere.example' })
    const wrong = { username: 'admin', password: 'another-password' }
    const refused = net.management.call('POST /authenticate', { query: { method: 'password' }, body: wrong })
    await expect(refused).rejects.toMatchObject({ status: 401 })
    const expected = [
      'entity.changed',
      'authentication.attempted',
      'enrollment.completed',
      'session.created',
      'session.ended',
    ]
    expect(new Set(heard)).toEqual(new Set([...expected, 'api-session.started', 'posture.changed']))
    const logged = logger.entries.filter(({ message }) => message === 'an event listener failed')
    const failures = logged.map(({ fields }) => `${fields?.event}: ${fields?.error}`)
    for (const name of new Set(heard)) {
      expect(failures).toContain(`${name}: Error: ${name}, later`)
      expect(failures).toContain(`${name}: Error: ${name}, at once`)
    }
    expect(failures).toHaveLength(2 * heard.length)
  })
})

describe('a fork', () => {
  it('has the network, the certificates and the time, and goes its own way', async () => {
    const net = await network({ seed: 7 })
    const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
    await net.elapse(DAY_MS)
    const world = net.snapshot()
    const [one, other] = await Promise.all([world.fork(), world.fork()])
    expect(one.clock.now()).toBe(net.clock.now())
    await one.admin.call('POST /services', { body: { name: 'extra' } })
    expect((await other.admin.call('GET /services')).data.map(({ name }) => name)).toEqual(['wiki'])
    expect((await net.admin.call('GET /services')).data).toHaveLength(1)
    const { connection } = laptop
    const login = one.client(connection).call('POST /authenticate', { query: { method: 'cert' }, body: {} })
    expect((await login).data.identityId).toBe(laptop.id)
  })

  it('has the authenticator apps, whose codes are good once in each', async () => {
    const net = await network()
    await net.enroll('laptop', { roleAttributes: ['staff'] })
    const app = await net.totp('laptop')
    const world = net.snapshot()
    for (const fork of [await world.fork(), await world.fork(), await (await world.fork()).fork()]) {
      const again = await fork.totp('laptop')
      expect(again.secret).toBe(app.secret)
      expect((await fork.as('laptop').call('GET /current-identity/mfa')).data.isVerified).toBe(true)
      await again.pass()
    }
    expect((await net.totp('laptop')).secret).toBe(app.secret)
    await net
      .as('laptop')
      .call('DELETE /current-identity/mfa', { headers: { 'mfa-validation-code': await nextCode(net, app) } })
    expect((await net.totp('laptop')).secret).not.toBe(app.secret)
  })

  it('leaves an app alone that the test enrolled by calls of its own', async () => {
    const net = await network()
    await net.enroll('laptop')
    await net.as('laptop').call('POST /current-identity/mfa')
    await expect(net.totp('laptop')).rejects.toMatchObject({ code: 'MFA_EXISTS' })
  })

  it('has the same ids in every run with the same seed', async () => {
    const ids = async (seed: number) => {
      const net = await network({ seed })
      return (await net.admin.call('GET /service-policies')).data.map(({ id }) => id)
    }
    expect(await ids(3)).toEqual(await ids(3))
    expect(await ids(3)).not.toEqual(await ids(4))
  })
})

describe('what goes wrong', () => {
  it('does so with the next request, and then no more', async () => {
    const net = await network()
    net.faults.next({ status: 429, retryAfterMs: 1500 })
    const refused = net.admin.call('GET /services')
    await expect(refused).rejects.toMatchObject({ status: 429, code: 'RATE_LIMITED', retryAfterMs: 2000 })
    expect((await net.admin.call('GET /services')).data).toHaveLength(1)
  })

  it('does so with every n-th of the requests that it is for', async () => {
    const net = await network()
    await net.admin.call('GET /services')
    net.faults.every(2, { drop: true }, ({ url }) => url.includes('/services'))
    const outcomes: string[] = []
    for (let i = 0; i < 5; i++) {
      await net.admin.call('GET /identities')
      await net.admin.call('GET /services').then(
        () => outcomes.push('done'),
        (error) => outcomes.push(error.message),
      )
    }
    expect(outcomes).toEqual(['done', 'fetch failed', 'done', 'fetch failed', 'done'])
    net.faults.clear()
    await net.admin.call('GET /services')
    await net.admin.call('GET /services')
  })

  it('is a broken connection after the request was done', async () => {
    const net = await network()
    net.faults.next({ drop: true, after: true }, ({ method }) => method === 'POST')
    await net.admin.call('GET /services')
    const lost = net.admin.call('POST /services', { body: { name: 'lost' } })
    await expect(lost).rejects.toThrow('fetch failed')
    expect((await net.admin.call('GET /services')).data).toHaveLength(2)
  })

  it('is a storage that cannot be reached, in one request alone', async () => {
    const net = await network()
    await net.admin.call('GET /services')
    net.faults.next({ storage: 'unreachable' })
    const [away, other] = await Promise.allSettled([net.admin.call('GET /services'), net.admin.call('GET /services')])
    expect(away).toMatchObject({ reason: { status: 503, code: 'TIMEOUT' } })
    expect(other.status).toBe('fulfilled')
  })

  it('is a delay, which passes with the clock', async () => {
    const net = await network()
    await net.admin.call('GET /services')
    net.faults.next({ delayMs: 1000 })
    let isDone = false
    const slow = net.admin.call('GET /services').then(() => {
      isDone = true
    })
    await net.elapse(999)
    expect(isDone).toBe(false)
    await net.elapse(1)
    await slow
  })
})

describe('giving up', () => {
  it('ends a call without a network: under way, while it is delayed, and in a list', async () => {
    const net = await network()
    await net.admin.call('GET /services')
    net.faults.next({ delayMs: 1000 })
    const delayed = new AbortController()
    const slow = net.admin.call('GET /services', { signal: delayed.signal })
    setTimeout(() => delayed.abort(new Error('too slow')), 5)
    await expect(slow).rejects.toThrow('too slow')
    net.faults.next({ delayMs: 1000 })
    const listed = net.admin.listAll('GET /services', { signal: AbortSignal.timeout(5) }).next()
    await expect(listed).rejects.toMatchObject({ name: 'TimeoutError' })
    const never = createClient({ baseUrl: 'https://controller.test:1280', fetch: () => new Promise(() => undefined) })
    const given = never.call('GET /version', { signal: AbortSignal.timeout(5) })
    await expect(given).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('keeps a delayed request from being looked at', async () => {
    const net = await network()
    await net.admin.call('GET /services')
    net.faults.next({ delayMs: 1000 })
    const body = { name: 'late' }
    const late = net.admin.call('POST /services', { body, signal: AbortSignal.timeout(5) })
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' })
    await net.elapse(2000)
    expect((await net.admin.call('GET /services')).data.map(({ name }) => name)).toEqual(['wiki'])
  })

  it('before a call sends nothing', async () => {
    const net = await network()
    const reason = new Error('given up')
    const sent = net.management.call('GET /version', { signal: AbortSignal.abort(reason) })
    await expect(sent).rejects.toBe(reason)
  })
})

describe('time', () => {
  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5', undefined])('does not pass by %s', async (span) => {
    const net = await createTestController()
    const before = net.clock.now()
    // A program without types.
    await expect(net.elapse(span as number)).rejects.toThrow(TypeError)
    expect(net.clock.now()).toBe(before)
    if (span === -1) return
    expect(() => net.clock.advance(span as number)).toThrow(TypeError)
    expect(() => net.clock.set(span as number)).toThrow(TypeError)
    expect(net.clock.now()).toBe(before)
  })
})

describe('on a socket', () => {
  it('serves clients that trust it by its bundle, under the address that tokens name, by a clock that goes', async () => {
    const net = await network({ clock: 'live' })
    const server = await net.listen()
    const { address, url, ca } = server
    const fetch = httpsFetch({ ca })
    expect((await createClient({ baseUrl: url, fetch }).call('GET /protocols')).data.https?.address).toBe(address)
    const laptop = await net.enroll('laptop', { roleAttributes: ['staff'] })
    const own = createClient({ baseUrl: url, fetch: httpsFetch({ ca, cert: laptop.cert, key: laptop.key }) })
    const { data } = await own.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
    expect(data.identityId).toBe(laptop.id)
    net.faults.next({ drop: true })
    await expect(own.call('GET /version')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect((await own.call('GET /version')).data.version).toMatch(/^v/)
    await server.close()
    await expect(own.call('GET /version')).rejects.toMatchObject({ code: expect.stringMatching(/^ECONN/) })
  })

  it('has certificates that last as long as its root: a clock that stands still breaks no client, whatever the year', async () => {
    const net = await createTestController()
    const certificates = `${net.caPem}${net.tls().cert}`.match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? []
    const ends = certificates.map((pem) => new X509Certificate(pem).validToDate.getUTCFullYear())
    expect(ends.length).toBeGreaterThanOrEqual(3)
    expect(new Set(ends)).toEqual(new Set([2036]))
  })

  it('lets happen what is due when its clock goes by itself', async () => {
    const net = await network({ clock: 'live', apiSessionTimeoutMs: 50 })
    const ended = net.events.wait('api-session.ended')
    await net.asAdmin()
    expect((await ended).reason).toBe('timeout')
  })
})

describe('a model of a network', () => {
  const model = {
    services: [{ name: 'wiki', roleAttributes: ['internal'] }],
    identities: [{ name: 'laptop', type: 'Device' as const, isAdmin: false, roleAttributes: ['staff'] }],
    servicePolicies: [
      {
        name: 'staff dial',
        type: 'Dial' as const,
        semantic: 'AnyOf' as const,
        identityRoles: ['#staff'],
        serviceRoles: ['#internal'],
      },
    ],
  }

  it('is there from the beginning, with a router that serves everybody: a session is one line away', async () => {
    const net = await createTestController({ model })
    expect((await net.as('laptop').dial('wiki')).type).toBe('Dial')
    expect((await (await net.fork()).admin.call('GET /edge-routers')).data).toHaveLength(1)
  })

  it('may be a text, and keeps its own routers', async () => {
    const net = await createTestController()
    const text = 'edgeRouters: [{ name: mine }]\nservices: [{ name: wiki }]\n'
    await net.seed({ name: 'network.yaml', text })
    expect((await net.admin.call('GET /edge-routers')).data.map(({ name }) => name)).toEqual(['mine'])
    const wrong = net.seed({ name: 'network.yaml', text: 'services: [{ nam: wiki }]\n' })
    await expect(wrong).rejects.toThrow('network.yaml')
  })
})
