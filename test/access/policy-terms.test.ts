import { type Storage, SYSTEM_CALL } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { explanationText } from 'portcullis/policy'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminToken, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** Milliseconds; a login of the tests outlasts many of them. */
const HOUR = 180_000
const SOON = 10_000
const model = {
  identities: [{ name: 'laptop', type: 'Default', isAdmin: false, roleAttributes: ['staff'] }],
  services: [{ name: 'prod-db' }],
} as const

/** A network without a grant, an administrator of it, and instants relative to its beginning. */
async function network(more: object = {}) {
  const net = await createTestController(await withSharedPki({ model, ...more }))
  const admin = await net.asAdmin()
  const begin = net.clock.now()
  const at = (ms: number) => new Date(begin + ms).toISOString()
  const grant = async (term: object) => {
    const roles = { identityRoles: ['#staff'], serviceRoles: [`@${await idOf(net, 'prod-db')}`] }
    const body = { name: 'on call', type: 'Dial', semantic: 'AnyOf', ...roles, ...term } as const
    return (await admin.call('POST /service-policies', { body })).data.id
  }
  const shown = async (id: string) => (await admin.call('GET /service-policies/{id}', { params: { id } })).data
  return { net, admin, at, grant, shown, mayDial: () => mayDial(net) }
}

async function idOf(net: TestController, name: string): Promise<string> {
  const { data } = await (await net.asAdmin()).call('GET /services', { query: { filter: `name="${name}"` } })
  return data[0]?.id ?? ''
}

const explained = (net: TestController) => net.engine.access.explain(SYSTEM_CALL, 'laptop', 'prod-db', 'Dial')
const mayDial = async (net: TestController) => (await explained(net)).policies.some(({ grants }) => grants)

describe('a service policy with a term', () => {
  it('grants from its beginning to its end, in either direction of time', async () => {
    const { net, at, grant, shown, mayDial } = await network()
    const id = await grant({ startsAt: at(HOUR), until: at(3 * HOUR), reason: 'INC-7' })
    expect(await shown(id)).toMatchObject({ phase: 'coming', startsAt: at(HOUR), until: at(3 * HOUR), reason: 'INC-7' })
    expect(await mayDial()).toBe(false)
    await net.elapse(HOUR - 1)
    expect(await mayDial()).toBe(false)
    await net.elapse(1)
    expect([await mayDial(), (await shown(id)).phase]).toEqual([true, 'in-force'])
    await net.elapse(2 * HOUR - 1)
    expect(await mayDial()).toBe(true)
    await net.elapse(1)
    expect([await mayDial(), (await shown(id)).phase]).toEqual([false, 'over'])
  })

  it.each([
    ['startsAt alone', { startsAt: HOUR }, [false, true, true]],
    ['until alone', { until: HOUR }, [true, false, false]],
    ['an instant that is past', { until: -HOUR }, [false, false, false]],
    ['a beginning that is past', { startsAt: -HOUR }, [true, true, true]],
    ['a reason alone', { reason: 'INC-7' }, [true, true, true]],
  ])(
    'may have %s',
    async (_what, { startsAt, until, reason }: { startsAt?: number; until?: number; reason?: string }, granted) => {
      const { net, at, grant, mayDial } = await network()
      const instants = {
        ...(startsAt && { startsAt: at(startsAt) }),
        ...(until && { until: at(until) }),
        ...(reason && { reason }),
      }
      await grant(instants)
      const seen: boolean[] = []
      for (const _ of granted) {
        seen.push(await mayDial())
        await net.elapse(HOUR)
      }
      expect(seen).toEqual(granted)
    },
  )

  it('ends the sessions that it carries at its end, and says why', async () => {
    const { net, at, grant } = await network()
    await grant({ until: at(HOUR) })
    const laptop = await net.as('laptop')
    const serviceId = await idOf(net, 'prod-db')
    const { data } = await laptop.call('POST /sessions', { body: { serviceId, type: 'Dial' } })
    const ended: unknown[] = []
    net.events.on('session.ended', (event) => ended.push(event))
    await net.elapse(HOUR - 1)
    expect(ended).toEqual([])
    await net.elapse(1)
    expect(ended).toEqual([expect.objectContaining({ sessionId: data.id, reason: 'access-lost' })])
    await expect(laptop.call('POST /sessions', { body: { serviceId, type: 'Dial' } })).rejects.toMatchObject({
      status: 404,
    })
    const services = await laptop.call('GET /services', { query: {} })
    expect(services.data).toEqual([])
  })

  it('is prolonged, shortened and freed of its term by a change of it', async () => {
    const { net, admin, at, grant, shown, mayDial } = await network()
    const id = await grant({ until: at(HOUR) })
    const patch = (body: object) => admin.call('PATCH /service-policies/{id}', { params: { id }, body })
    await patch({ until: at(2 * HOUR) })
    await net.elapse(HOUR)
    expect(await mayDial()).toBe(true)
    await patch({ until: at(HOUR / 2) })
    expect(await mayDial()).toBe(false)
    const policy = await shown(id)
    const { name, semantic, identityRoles, serviceRoles } = policy
    const body = { name, type: 'Dial', semantic, identityRoles, serviceRoles } as const
    await admin.call('PUT /service-policies/{id}', { params: { id }, body })
    expect(await shown(id)).not.toHaveProperty('phase')
    expect(await mayDial()).toBe(true)
    await net.elapse(1000 * HOUR)
    expect(await mayDial()).toBe(true)
  })

  it('is refused where it would end before it begins, and the answer names the field', async () => {
    const { at, grant } = await network()
    await expect(grant({ startsAt: at(2 * HOUR), until: at(HOUR) })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('until'),
    })
  })

  it('is explained: until when, by whom, because of what', async () => {
    const { net, at, grant } = await network()
    await grant({ startsAt: at(HOUR), until: at(2 * HOUR), reason: 'two hours of prod-db' })
    const coming = await explained(net)
    expect(coming).toMatchObject({ allowed: false, reason: 'no-policy-in-force', changesAt: Date.parse(at(HOUR)) })
    expect(coming.suggestions[0]).toMatchObject({ kind: 'change-term' })
    const text = async () => explanationText(await explained(net))
    const [from, until] = [at(HOUR), at(2 * HOUR)]
    const given = `given by 'Default Admin', because: 'two hours of prod-db'`
    expect(await text()).toContain(`It will grant from ${from} until ${until}, ${given}.`)
    await net.elapse(HOUR)
    expect((await explained(net)).holdsUntil).toBe(Date.parse(at(2 * HOUR)))
    expect(await text()).toContain(`It grants from ${from} until ${until}, ${given}.`)
    await net.elapse(HOUR)
    expect(await text()).toContain(`It granted from ${from} until ${until}, ${given}.`)
  })

  it('is audited at both ends, as work of the controller', async () => {
    const { net, at, grant } = await network()
    const id = await grant({ startsAt: at(HOUR), until: at(2 * HOUR) })
    await net.elapse(HOUR)
    await net.elapse(HOUR)
    const { entries } = (await ownApi(net, await adminToken(net)).call('GET /audit', { query: { entity: id } })).data
    expect(entries.map(({ changes, actor }) => [Object(changes).phase, actor === null])).toEqual([
      [{ before: 'in-force', after: 'over' }, true],
      [{ before: 'coming', after: 'in-force' }, true],
      [{ after: 'coming' }, false],
    ])
  })

  it('ends in whichever process is there: the clock of the one that wrote it stands still', async () => {
    const storage = memoryStorage()
    const { net, at, grant } = await network({ storage })
    const other = await createTestController(await withSharedPki({ storage }))
    await grant({ until: at(HOUR) })
    expect(await mayDial(other)).toBe(true)
    await other.elapse(HOUR)
    expect([await mayDial(other), await mayDial(net)]).toEqual([false, false])
  })

  it('does not grant past its end while the storage answers reads and takes no write that says so', async () => {
    const inner = memoryStorage()
    let takesChanges = true
    const write: Storage['write'] = (work) =>
      takesChanges ? inner.write(work) : Promise.reject(new StorageUnavailable('unreachable', 'it takes no changes'))
    const { net, at, grant, mayDial } = await network({ storage: { ...inner, write } })
    // A longer time has the use of the session written.
    await grant({ until: at(SOON) })
    const laptop = await net.as('laptop')
    const names = async () => (await laptop.call('GET /services', { query: {} })).data.map(({ name }) => name)
    expect([await mayDial(), await names()]).toEqual([true, ['prod-db']])
    takesChanges = false
    await net.elapse(SOON)
    expect([await mayDial(), await names()]).toEqual([false, []])
  })

  it('does not grant past its end after a start that comes later', async () => {
    const storage = memoryStorage()
    const { net, at, grant } = await network({ storage })
    await grant({ until: at(HOUR) })
    const later = await createTestController(await withSharedPki({ storage, now: net.clock.now() + 2 * HOUR }))
    expect(await mayDial(later)).toBe(false)
  })

  it('counts for invariants and simulations before it begins, and not after its end', async () => {
    const { net, at, grant } = await network()
    const id = await grant({ startsAt: at(HOUR), until: at(2 * HOUR) })
    const simulated = async () => {
      const changes = [{ kind: 'service-policies', action: 'delete', id }] as const
      return (await net.engine.access.simulate(SYSTEM_CALL, changes)).pairs.length
    }
    expect(await simulated()).toBe(1)
    await net.elapse(HOUR)
    await net.elapse(HOUR)
    expect(await simulated()).toBe(0)
  })

  it('is part of a model, which changes nothing when it is applied again, and is judged by what it will grant', async () => {
    const net = await createTestController(await withSharedPki())
    const text = `
services: [{ name: wiki }]
identities: [{ name: laptop, type: Device, roleAttributes: [staff] }]
servicePolicies:
  - name: night
    type: Dial
    semantic: AnyOf
    identityRoles: ['#staff']
    serviceRoles: ['@wiki']
    startsAt: 2026-02-01T18:00:00Z
    until: 2026-02-02T06:00:00+01:00
    reason: maintenance
`
    expect((await net.apply(text)).changes.map(({ name }) => name)).toContain('night')
    expect((await net.apply(text)).changes).toEqual([])
    const never = `${text}assertions:\n  - never: { identity: ['#staff'], dial: ['@wiki'] }\n`
    await expect(net.apply(never)).rejects.toThrow(/1 of 1 assertions would fail/)
  })
})
