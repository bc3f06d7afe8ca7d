import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Storage, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { memoryStorage } from 'portcullis/memory'
import { planModel, readModel } from 'portcullis/model'
import { explanationText } from 'portcullis/policy'
import type { ServiceConnection } from 'portcullis/sdk'
import { StorageUnavailable } from 'portcullis/storage'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { letStaffDial } from '../support/staff-network.ts'

/** Milliseconds; a login of the tests outlasts many of them. */
const HOUR = 180_000
/** The use of a session is not written so soon. */
const SOON = 10_000

/** A network where `#staff` may dial the wiki, and an identity without role attributes. */
async function network(more: object = {}) {
  const net = await createTestController(await withSharedPki(more))
  onTestFinished(() => net.close())
  const begin = net.clock.now()
  const at = (ms: number) => new Date(begin + ms).toISOString()
  const create = { name: 'anna', type: 'User' as const, isAdmin: false }
  const { id } = await net.engine.identities.create(SYSTEM_CALL, create)
  const wiki = await letStaffDial(net)
  const api = ownApi(net, await adminToken(net))
  const give = async (grant: { attribute?: string; startsAt?: string; until?: string; reason?: string }) => {
    const body = { attribute: 'staff', until: at(HOUR), ...grant }
    return (await api.call('POST /identities/{id}/attribute-grants', { params: { id }, body })).data
  }
  const end = (grantId: string) =>
    api.call('DELETE /identities/{id}/attribute-grants/{grantId}', { params: { id, grantId } })
  const shown = () => net.engine.identities.get(SYSTEM_CALL, id)
  return { net, id, wiki, at, api, give, end, shown, may: () => may(net) }
}

const explained = (net: TestController, options: object = {}) =>
  net.engine.access.explain(SYSTEM_CALL, 'anna', 'wiki', 'Dial', options)
const may = async (net: TestController, options: object = {}) => (await explained(net, options)).allowed

/** A folder that goes with the test. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-grants-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('a grant of a role attribute', () => {
  it('is there from its beginning to its end, beside the stored role attributes', async () => {
    const { net, at, give, shown, may } = await network()
    const grant = await give({ startsAt: at(HOUR), until: at(3 * HOUR), reason: 'INC-8' })
    const told = { attribute: 'staff', startsAt: at(HOUR), until: at(3 * HOUR), reason: 'INC-8' }
    expect(grant).toMatchObject({ ...told, givenBy: 'Default Admin', phase: 'coming' })
    expect(await shown()).toMatchObject({ roleAttributes: [], attributeGrants: [grant] })
    expect(await shown()).not.toHaveProperty('grantedAttributes')
    await net.elapse(HOUR - 1)
    expect(await may()).toBe(false)
    await net.elapse(1)
    expect(await may()).toBe(true)
    const inForce = { attributeGrants: [{ ...grant, phase: 'in-force' }], grantedAttributes: ['staff'] }
    expect(await shown()).toMatchObject({ roleAttributes: [], ...inForce })
    await net.elapse(2 * HOUR - 1)
    expect(await may()).toBe(true)
    await net.elapse(1)
    expect(await may()).toBe(false)
    const over = await shown()
    expect(over).not.toHaveProperty('attributeGrants')
    expect(over).not.toHaveProperty('grantedAttributes')
  })

  it.each<[string, object, string]>([
    ['an end in the past', { until: -1 }, 'until'],
    ['an end now', { until: 0 }, 'until'],
    ['an end before its beginning', { startsAt: 2 * HOUR, until: HOUR }, 'until'],
    ['an end at its beginning', { startsAt: HOUR, until: HOUR }, 'until'],
    ['an end that is no instant', { until: 'tomorrow' }, 'until'],
    ['a beginning that is no instant', { startsAt: 'now' }, 'startsAt'],
    ['a role instead of an attribute', { attribute: '#staff' }, 'attribute'],
    ['an id instead of an attribute', { attribute: '@staff' }, 'attribute'],
    ['an empty attribute', { attribute: '' }, 'attribute'],
    ['a long attribute', { attribute: 'a'.repeat(1025) }, 'attribute'],
    ['half a surrogate pair', { attribute: '\ud800' }, 'attribute'],
    ['a long reason', { reason: 'a'.repeat(1025) }, 'reason'],
  ])('is refused with %s, by the name of the field', async (_, wrong, field) => {
    const { at, give, shown } = await network()
    const spelled = Object.entries(wrong).map(([name, value]) => [name, typeof value === 'number' ? at(value) : value])
    await expect(give(Object.fromEntries(spelled))).rejects.toMatchObject({ status: 400, details: { field } })
    expect(await shown()).not.toHaveProperty('attributeGrants')
  })

  it('is refused beyond 50, and those that are over do not count', async () => {
    const { net, at, id, give, shown } = await network()
    const grant = (attribute: string, until = at(HOUR)) =>
      net.engine.identities.grantAttribute(SYSTEM_CALL, id, { attribute, until })
    await grant('short', at(SOON))
    for (let count = 1; count < 50; count += 1) await grant(`group-${count}`)
    await expect(give({})).rejects.toMatchObject({ status: 400, details: { field: 'attribute' } })
    await net.elapse(SOON)
    await give({})
    expect((await shown()).attributeGrants).toHaveLength(50)
  })

  it('adds up with others of the same attribute, and ends before its time alone', async () => {
    const { net, at, give, end, shown, may } = await network()
    const first = await give({ until: at(2 * HOUR) })
    const second = await give({ until: at(HOUR) })
    const later = await give({ startsAt: at(3 * HOUR), until: at(4 * HOUR) })
    await end(first.id)
    expect([await may(), (await shown()).attributeGrants]).toEqual([true, [second, later]])
    await expect(end(first.id)).rejects.toMatchObject({ status: 404 })
    await net.elapse(HOUR)
    expect([await may(), (await shown()).attributeGrants]).toEqual([false, [later]])
    await net.elapse(2 * HOUR)
    expect(await may()).toBe(true)
    await end(later.id)
    expect(await may()).toBe(false)
    expect(await shown()).not.toHaveProperty('attributeGrants')
  })

  it('ends the sessions that it carried, takes the service off the list, and cuts at an end by hand too', async () => {
    const { net, at, wiki, give, end } = await network()
    const dial = { body: { serviceId: wiki, type: 'Dial' as const } }
    const ended: unknown[] = []
    net.events.on('session.ended', ({ reason }) => ended.push(reason))
    await give({ until: at(HOUR) })
    const anna = await net.as('anna')
    const names = async () => (await anna.call('GET /services', { query: {} })).data.map(({ name }) => name)
    await anna.call('POST /sessions', dial)
    expect(await names()).toEqual(['wiki'])
    await net.elapse(HOUR)
    expect([ended, await names()]).toEqual([['access-lost'], []])
    await expect(anna.call('POST /sessions', dial)).rejects.toMatchObject({ status: 404 })
    const { id } = await give({ until: at(2 * HOUR) })
    await anna.call('POST /sessions', dial)
    await end(id)
    expect([ended, await names()]).toEqual([['access-lost', 'access-lost'], []])
  })

  it('cuts a running circuit at its end', async () => {
    const model = {
      identities: ['anna', 'host'].map((name) => ({ name, type: 'Device' as const, isAdmin: false })),
      services: [{ name: 'wiki' }],
      servicePolicies: [
        { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['#all'] },
        { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@host'], serviceRoles: ['#all'] },
      ],
    } as const
    const net = await createTestController(await withSharedPki({ router: true, model }))
    onTestFinished(() => net.close())
    const { items } = await net.engine.identities.list(SYSTEM_CALL, { filter: 'name = "anna"' })
    const until = new Date(net.clock.now() + HOUR).toISOString()
    await net.engine.identities.grantAttribute(SYSTEM_CALL, items[0]?.id ?? '', { attribute: 'staff', until })
    await net.as('host').host('wiki', (connection: ServiceConnection) => void connection.on('error', () => {}))
    const connection = await net.as('anna').dial('wiki')
    const closed = new Promise((resolve) => connection.on('error', () => {}).on('close', resolve))
    await net.elapse(HOUR)
    await closed
    await expect(net.as('anna').dial('wiki')).rejects.toThrow()
  })

  it.each(['memory', 'sqlite'])(
    'begins and ends in whichever process is there, and the clock of the giver stands still: %s',
    async (kind) => {
      const memory = { ...memoryStorage(), close: async () => {} }
      const file = join(newFolder(), 'network.sqlite')
      const open = async () => (kind === 'memory' ? memory : sqliteStorage(file))
      const { net, at, give } = await network({ storage: await open() })
      const other = await createTestController(await withSharedPki({ storage: await open() }))
      onTestFinished(() => other.close())
      await give({ startsAt: at(HOUR), until: at(2 * HOUR) })
      const both = async () => [await may(net), await may(other)]
      expect(await both()).toEqual([false, false])
      await other.elapse(HOUR)
      expect(await both()).toEqual([true, true])
      await other.elapse(HOUR)
      expect(await both()).toEqual([false, false])
    },
  )

  it('is over past its end while the storage takes no write that says so, one grant after the other', async () => {
    const inner = memoryStorage()
    let takesChanges = true
    const write: Storage['write'] = (work) =>
      takesChanges ? inner.write(work) : Promise.reject(new StorageUnavailable('unreachable', 'it takes no changes'))
    const roles: unknown[] = []
    const { net, at, api, id, give } = await network({
      storage: { ...inner, write },
      authorize: ({ caller }: { caller: { name: string; roleAttributes: readonly string[] } }) => {
        if (caller.name === 'anna') roles.push(caller.roleAttributes)
        return true
      },
    })
    const other = { attribute: 'other', until: at(SOON) }
    await api.call('POST /identities/{id}/attribute-grants', { params: { id }, body: other })
    await give({ until: at(2 * SOON) })
    await give({ until: at(3 * SOON), startsAt: at(2 * SOON + 1) })
    const anna = await net.as('anna')
    const names = async () => (await anna.call('GET /services', { query: {} })).data.map(({ name }) => name)
    const seen = async () => [await may(net), await names(), roles.at(-1)]
    expect(await seen()).toEqual([true, ['wiki'], ['other', 'staff']])
    takesChanges = false
    await net.elapse(SOON)
    expect(await seen()).toEqual([true, ['wiki'], ['staff']])
    await net.elapse(SOON)
    expect(await seen()).toEqual([false, [], []])
    // It has not begun: no process could write that.
    await net.elapse(SOON / 2)
    expect(await seen()).toEqual([false, [], []])
    takesChanges = true
    await net.elapse(1000)
    expect(await seen()).toEqual([true, ['wiki'], ['staff']])
  })

  it('is over after a start that comes later', async () => {
    const storage = memoryStorage()
    const { net, at, give } = await network({ storage })
    await give({ until: at(HOUR) })
    const later = await createTestController(await withSharedPki({ storage, now: net.clock.now() + 2 * HOUR }))
    onTestFinished(() => later.close())
    expect(await may(later)).toBe(false)
  })

  it('is explained: until when, by whom, because of what; and at other instants', async () => {
    const { net, at, give } = await network()
    await give({ startsAt: at(HOUR), until: at(3 * HOUR), reason: 'INC-8' })
    const given = `'staff' from ${at(HOUR)} until ${at(3 * HOUR)}, given by 'Default Admin', because: 'INC-8'.`
    const coming = await explained(net)
    expect(coming).toMatchObject({ allowed: false, changesAt: Date.parse(at(HOUR)) })
    expect(explanationText(coming)).toContain(`'anna' will have the role attribute ${given}`)
    const judged = (ms: number) => may(net, { at: Date.parse(at(ms)) })
    expect([await judged(HOUR - 1), await judged(HOUR), await judged(3 * HOUR)]).toEqual([false, true, false])
    await net.elapse(HOUR)
    const inForce = await explained(net)
    expect(inForce).toMatchObject({ allowed: true, holdsUntil: Date.parse(at(3 * HOUR)) })
    expect(inForce.policies[0]?.identitySide).toMatchObject({
      matched: [{ role: '#staff', name: '#staff (grant)', fromGrant: true }],
      grants: [{ attribute: 'staff', until: at(3 * HOUR), reason: 'INC-8', givenBy: 'Default Admin' }],
    })
    expect(explanationText(inForce)).toContain(`'anna' has the role attribute ${given}`)
    expect(explanationText(inForce)).not.toContain('at the latest')
    await give({ until: at(4 * HOUR) })
    expect((await explained(net)).holdsUntil).toBe(Date.parse(at(4 * HOUR)))
    const change = { kind: 'identities', action: 'update', id: inForce.identity?.id ?? '', body: { tags: {} } } as const
    expect(await may(net, { changes: [change], at: Date.parse(at(4 * HOUR)) })).toBe(false)
  })

  it('says since when it gives access, and is audited at both ends', async () => {
    const { net, at, id, api, give } = await network()
    await give({ startsAt: at(HOUR), until: at(2 * HOUR), reason: 'INC-8' })
    await net.elapse(HOUR)
    expect((await explained(net)).since).toMatchObject({ by: 'change', at: Date.parse(at(HOUR)) })
    await net.elapse(HOUR)
    const { entries } = (await api.call('GET /audit', { query: { entity: id, filter: 'type = "entity.updated"' } }))
      .data
    expect(entries.map(({ changes, actor }) => [Object(changes).grantedAttributes, actor === null])).toEqual([
      [{ before: ['staff'] }, true],
      [{ after: ['staff'] }, true],
      [undefined, false],
    ])
    expect(Object(entries[2]?.changes).attributeGrants.after).toMatchObject([{ attribute: 'staff', reason: 'INC-8' }])
  })

  it('counts for simulations before it begins, and not after its end', async () => {
    const { net, at, wiki, give } = await network()
    await give({ startsAt: at(HOUR), until: at(2 * HOUR) })
    const simulated = async () => {
      const changes = [{ kind: 'services', action: 'delete', id: wiki }] as const
      return (await net.engine.access.simulate(SYSTEM_CALL, changes)).pairs.length
    }
    expect(await simulated()).toBe(1)
    await net.elapse(HOUR)
    expect(await simulated()).toBe(1)
    await net.elapse(HOUR)
    expect(await simulated()).toBe(0)
  })

  it('counts for plans before it begins, and not after its end, and is no part of a model', async () => {
    const { net, at, give } = await network()
    await give({ startsAt: at(HOUR), until: at(2 * HOUR) })
    const text = `
services: [{ name: ledger }]
identities: [{ name: anna, type: User, tags: { team: books } }]
servicePolicies: [{ name: books, type: Dial, semantic: AnyOf, identityRoles: ['#staff'], serviceRoles: ['@ledger'] }]
`
    const model = await readModel({ name: 'network.yaml', text })
    const planned = async () => {
      const fetch = (request: Request) => net.fetch(request)
      const admin = { baseUrl: 'https://controller.test', fetch, token: await adminToken(net) }
      const { access, current } = await planModel(admin, model)
      return [access.gained, access.lost, current.named('identities', 'anna')?.body]
    }
    expect(await planned()).toEqual([1, 0, { name: 'anna', type: 'User', isAdmin: false }])
    await net.elapse(HOUR)
    expect((await planned()).slice(0, 2)).toEqual([1, 0])
    await net.elapse(HOUR)
    expect((await planned()).slice(0, 2)).toEqual([0, 0])
  })

  it('is neither lost nor copied by a client that writes back what it read', async () => {
    const { net, at, id, give, shown, may } = await network()
    await give({ until: at(HOUR) })
    const admin = await net.asAdmin()
    const { enrollment: _, ...read } = (await admin.call('GET /identities/{id}', { params: { id } })).data
    const body = { ...read, type: 'User' as const, roleAttributes: [...(read.roleAttributes ?? []), 'own'] }
    await admin.call('PUT /identities/{id}', { params: { id }, body })
    expect(await shown()).toMatchObject({ roleAttributes: ['own'], grantedAttributes: ['staff'] })
    await net.elapse(HOUR)
    await admin.call('PUT /identities/{id}', { params: { id }, body })
    const copied = await admin.call('POST /identities', { body: { ...body, name: 'copy', externalId: 'copy' } })
    const copy = await net.engine.identities.get(SYSTEM_CALL, copied.data.id)
    for (const one of [await shown(), copy]) expect(one).not.toHaveProperty('attributeGrants')
    expect(await may()).toBe(false)
    const filter = 'anyOf(grantedAttributes) = "staff"'
    expect((await net.engine.identities.list(SYSTEM_CALL, { filter })).items).toEqual([])
  })

  it('does not come back by an undo when it is over', async () => {
    const { net, at, id, api, give, shown, may } = await network()
    await give({ until: at(HOUR) })
    const lasting = await give({ attribute: 'guests', until: at(3 * HOUR) })
    await net.elapse(HOUR)
    const query = { entity: id, filter: 'type = "entity.updated"', limit: 1 }
    const ending = (await api.call('GET /audit', { query })).data.entries[0]?.id ?? ''
    const plan = async (record: string) => (await api.call('GET /audit/{id}/undo', { params: { id: record } })).data
    expect(await plan(ending)).toMatchObject({ action: null, obstacle: 'controller' })
    await net.engine.identities.delete(SYSTEM_CALL, id)
    await net.elapse(HOUR)
    const deleted = { entity: id, filter: 'type = "entity.deleted"', limit: 1 }
    const record = (await api.call('GET /audit', { query: deleted })).data.entries[0]?.id ?? ''
    const restore = async () =>
      api.call('POST /audit/{id}/undo', {
        params: { id: record },
        headers: { 'if-match': `"${(await plan(record)).tag}"` },
      })
    await restore()
    expect((await shown()).attributeGrants).toEqual([lasting])
    expect(await may()).toBe(false)
    await net.engine.identities.delete(SYSTEM_CALL, id)
    await net.elapse(2 * HOUR)
    await restore()
    expect(await shown()).not.toHaveProperty('attributeGrants')
  })

  it('is given by callers that may write role attributes, and by nobody to itself', async () => {
    const { net, at, id } = await network()
    const body = { attribute: 'staff', until: at(HOUR) }
    const giveTo = (by: ReturnType<typeof ownApi>, to: string) =>
      by.call('POST /identities/{id}/attribute-grants', { params: { id: to }, body })
    const operator = await delegate(net, 'operator', ['identity.update', 'identity.read'])
    await giveTo(ownApi(net, operator.token), id)
    const reader = await delegate(net, 'reader', ['identity.read'])
    const refused = { code: 'UNAUTHORIZED' }
    await expect(giveTo(ownApi(net, reader.token), id)).rejects.toMatchObject(refused)
    await expect(giveTo(ownApi(net, operator.token), operator.id)).rejects.toMatchObject(refused)
    const [admin] = (await net.engine.identities.list(SYSTEM_CALL, { filter: 'isDefaultAdmin = true' })).items
    await expect(giveTo(ownApi(net, operator.token), admin?.id ?? '')).rejects.toMatchObject(refused)
    await expect(giveTo(ownApi(net, operator.token), 'nobody')).rejects.toMatchObject({ status: 404 })
  })

  it('holds as an oracle over plain instants says, whatever grants there are and whatever ends by hand', async () => {
    const { net, id, end, may } = await network()
    const step = fc.oneof(
      fc.record({ starts: fc.option(fc.integer({ min: 0, max: 8 })), lasts: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ ends: fc.nat(5) }),
      fc.record({ waits: fc.integer({ min: 1, max: 4 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        let known: { id: string; from: number; to: number }[] = []
        for (const one of steps) {
          const now = net.clock.now()
          if ('waits' in one) await net.elapse(one.waits * 1000)
          else if ('ends' in one) {
            const standing = known.filter(({ to }) => now < to)
            const grant = standing[one.ends % Math.max(standing.length, 1)]
            if (grant !== undefined) await end(grant.id)
            known = known.filter(({ id: other }) => other !== grant?.id)
          } else {
            const from = now + (one.starts ?? 0) * 1000
            const to = from + one.lasts * 1000
            const term = { ...(one.starts !== null && { startsAt: new Date(from).toISOString() }) }
            const body = { attribute: 'staff', until: new Date(to).toISOString(), ...term }
            known.push({ id: (await net.engine.identities.grantAttribute(SYSTEM_CALL, id, body)).id, from, to })
          }
          const at = net.clock.now()
          expect(await may()).toBe(known.some(({ from, to }) => from <= at && at < to))
        }
        for (const { id: grant, to } of known) if (net.clock.now() < to) await end(grant)
      }),
      { numRuns: 15 },
    )
  })
})
