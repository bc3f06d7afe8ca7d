import { createTestController, type TestController, type TestSnapshot } from 'portcullis/testing'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import 'portcullis/testing/vitest'
import network from './network.ts'

const MANAGED = { domain: 'corp.example' }

let world: TestSnapshot
let net: TestController

// The network is made once; each test goes on from a copy of it.
beforeAll(async () => {
  const first = await createTestController({ model: network })
  await first.enroll('laptop')
  world = first.snapshot()
})
beforeEach(async () => {
  net = await world.fork()
})
afterEach(() => net.close())

describe('staff', () => {
  it('dial the wiki from managed devices alone', async () => {
    await expect(net).toAllow('laptop', 'Dial', 'wiki', { posture: MANAGED })
    await expect(net).not.toAllow('laptop', 'Dial', 'wiki', { posture: { domain: 'home' } })
    await expect(net).not.toAllow('laptop', 'Dial', 'payroll', { posture: MANAGED })
  })

  it('lose the wiki at once when their device leaves the domain', async () => {
    const laptop = net.as('laptop')
    await laptop.report(MANAGED)
    const session = await laptop.dial('wiki')
    const ended = net.events.wait('session.ended')
    await laptop.report({ domain: 'home' })
    expect(await ended).toMatchObject({ sessionId: session.id, reason: 'posture-failed' })
  })

  it('are told to try again while the database is away', async () => {
    const laptop = net.as('laptop')
    await laptop.report(MANAGED)
    net.faults.next({ storage: 'unreachable' }, ({ url }) => url.endsWith('/sessions'))
    await expect(laptop.dial('wiki')).rejects.toMatchObject({ status: 503, retryAfterMs: 5000 })
    expect((await laptop.dial('wiki')).type).toBe('Dial')
  })
})

describe('a visitor', () => {
  it('becomes staff by an attribute, in this test alone', async () => {
    const { data } = await net.admin.call('GET /identities', { query: { filter: 'name = "visitor"' } })
    const id = data[0]?.id ?? ''
    await net.admin.call('PATCH /identities/{id}', { params: { id }, body: { roleAttributes: ['staff'] } })
    await expect(net).toAllow('visitor', 'Dial', 'wiki', { posture: MANAGED })
  })

  it('reaches nothing', async () => {
    expect((await net.as('visitor').call('GET /services')).data).toEqual([])
    await expect(net.as('visitor').dial('wiki')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
