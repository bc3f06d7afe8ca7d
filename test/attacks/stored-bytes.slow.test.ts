import { SYSTEM_CALL } from 'portcullis'
import { describe, expect, it } from 'vitest'
// Internals: the default limits, so that each bound is tried at its edge.
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { contextOf } from '../../src/engine/entity-services.ts'
import { RESOURCES } from '../../src/facts/resources/index.ts'
import type { RecordOf, Resource } from '../../src/kernel/declaration/resource.ts'
import { expectDone, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient, passwordLogin, read } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { mount } from '../support/mount.ts'
import { apisOf, person } from '../support/people.ts'
import { apiSessions, identities, sessions } from '../support/stored-records.ts'

const { tags, tagBytes, endpointTagBytes, textBytes, listBytes, objectBytes } = DEFAULT_LIMITS

const manyTags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'x']))
const textOf = (bytes: number) => 'é'.repeat(Math.ceil(bytes / 2))

/** A record of a kind whose fields are empty. */
function emptyRecord({ name, fields, defaults = {} }: Resource): RecordOf<Resource> {
  const entries = Object.keys(fields).map((field) => [field, defaults[field] ?? null])
  return Object.fromEntries([['id', `some ${name}`], ...entries, ['createdAt', 0], ['updatedAt', 0], ['tags', {}]])
}

/** A value of a kind with about the given bytes. */
const LARGE: Readonly<Record<string, (bytes: number) => unknown>> = {
  string: textOf,
  set: (bytes) => [textOf(bytes - 4)],
  json: (bytes) => ({ k: textOf(bytes - 9) }),
}

/** Each stored field whose kind does not say how large it is, with the bytes that it may have. */
const FIELDS = RESOURCES.filter(({ definition }) => definition.isJournal !== true).flatMap((resource) =>
  Object.entries(resource.fields).flatMap(([field, kind]) => {
    const makeValue = LARGE[kind]
    const ofTags = resource.definition.isWrittenByEndpoints ? endpointTagBytes : tagBytes
    const most = field === 'tags' ? ofTags : kind === 'string' ? textBytes : kind === 'set' ? listBytes : objectBytes
    return makeValue === undefined ? [] : [{ kind: resource.name, field, most, resource, makeValue }]
  }),
)

describe('what is stored', () => {
  it.each(FIELDS)('of $kind has $field of at most $most bytes', async ({ field, most, resource, makeValue }) => {
    const { engine } = (await mount()).controller
    const insert = (value: unknown) =>
      contextOf(engineOf(engine)).writes.run(SYSTEM_CALL, (tx) =>
        tx.collection(resource).insert({ ...emptyRecord(resource), [field]: value }),
      )
    await expect(insert(makeValue(most + 6))).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE', details: { field } })
    await insert(makeValue(most))
  })

  it('has at most so many tags, whatever the entity', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const refused = await admin.post('/services', { name: 'a', tags: manyTags(tags + 1) })
    expectFieldError(refused, 'tags', `tags has ${tags + 1} members, and at most ${tags} are kept (limit tags)`)
    const id = await create(admin, '/services', { name: 'a', tags: manyTags(tags) })
    expectFieldError(await admin.patch(`/services/${id}`, { tags: manyTags(tags + 1) }), 'tags')
    expectFieldError(
      await admin.patch(`/services/${id}`, { tags: { k: 'x'.repeat(tagBytes) } }),
      'tags',
      'limit tagBytes',
    )
    expect(Object.keys((await read(admin, `/services/${id}`)).tags)).toHaveLength(tags)
  })

  it('may have other limits, which are named when they are none', async () => {
    const mounted = await mount({ limits: { tags: 1 } })
    expectFieldError(
      await (await adminOf(mounted)).post('/services', { name: 'a', tags: manyTags(2) }),
      'tags',
      'most 1',
    )
    await expect(mount({ limits: { tagBytes: 0 } })).rejects.toThrow('limits.tagBytes takes a whole number from 1')
  })

  it('from before the limits is shown, searched, changed as long as it does not grow, and deleted', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const id = await create(admin, '/identities', { name: 'old', type: 'User', isAdmin: false })
    const large = { ...manyTags(2000), site: 'north', big: 'x'.repeat(100_000) }
    const { storage } = mounted.controller
    await storage.write(async (tx) => {
      const known = await tx.collection(identities).get(id)
      if (known !== undefined) await tx.collection(identities).update({ ...known, tags: large })
    })
    expect((await read(admin, `/identities/${id}`)).tags).toEqual(large)
    expect(await read(admin, `/identities?filter=${encodeURIComponent('tags.site = "north"')}`)).toHaveLength(1)
    expectDone(await admin.patch(`/identities/${id}`, { name: 'older' }))
    expectFieldError(await admin.patch(`/identities/${id}`, { tags: { ...large, more: 1 } }), 'tags')
    expectDone(await admin.patch(`/identities/${id}`, { tags: {} }))
    expectDone(await admin.delete(`/identities/${id}`))
  })
})

describe('what one endpoint stores', () => {
  it('are so many API sessions, of which the one that was not used for longest ends for a new one', async () => {
    const mounted = await mount({ limits: { apiSessionsPerIdentity: 3 } })
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const apis = []
    for (let n = 0; n < 3; n += 1) {
      mounted.clock.advance(61_000)
      apis.push((await apisOf(mounted, alice)).api)
    }
    mounted.clock.advance(61_000)
    expect((await apis[0]?.get('/current-identity'))?.status).toBe(200)
    mounted.clock.advance(61_000)
    apis.push((await apisOf(mounted, alice)).api)
    const states = await Promise.all(apis.map(async (api) => (await api.get('/current-identity')).status))
    expect(states).toEqual([200, 401, 200, 200])
  })

  it('are API sessions of which always the one ends that was not used for longest, and none where one has ended by itself', async () => {
    const mounted = await mount({ limits: { apiSessionsPerIdentity: 3 } })
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const apis = new Map<string, Awaited<ReturnType<typeof apisOf>>['api']>()
    const begin = async (name: string) => {
      mounted.clock.advance(61_000)
      apis.set(name, (await apisOf(mounted, alice)).api)
    }
    for (const name of ['a', 'b', 'c', 'd']) await begin(name)
    mounted.clock.advance(61_000)
    expect((await apis.get('b')?.get('/current-identity'))?.status).toBe(200)
    await begin('e')
    expect((await apis.get('d')?.delete('/current-api-session'))?.status).toBe(200)
    await begin('f')
    await begin('g')
    const states = await Promise.all(
      [...apis].map(async ([name, api]) => `${name} ${(await api.get('/current-identity')).status}`),
    )
    // Of a to d the first had to go for d, c for e because b was used, nobody for f because d was gone, and b for g.
    expect(states).toEqual(['a 401', 'b 401', 'c 401', 'd 401', 'e 200', 'f 200', 'g 200'])
  })

  it('are API sessions within the limit after a store had more of them', async () => {
    const mounted = await mount({ limits: { apiSessionsPerIdentity: 5 } })
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    await apisOf(mounted, alice)
    const { storage } = mounted.controller
    const [first] = (await storage.read((tx) => tx.collection(apiSessions).find())).items.filter(
      ({ identityId }) => identityId === alice.id,
    )
    await storage.write(async (tx) => {
      for (let n = 0; n < 30 && first !== undefined; n += 1) {
        await tx.collection(apiSessions).insert({ ...first, id: `old ${n}`, tokenDigest: `digest ${n}` })
      }
    })
    for (let n = 0; n < 12; n += 1) await apisOf(mounted, alice)
    const { items } = await storage.read((tx) => tx.collection(apiSessions).find())
    expect(items.filter(({ identityId }) => identityId === alice.id)).toHaveLength(5)
  })

  it('are service sessions with small tags, which filters still find', async () => {
    const { admin, alice, serviceId } = await network(await mount())
    const wanted = { serviceId, type: 'Dial' }
    expectFieldError(
      await alice.api.post('/sessions', { ...wanted, tags: { k: 'x'.repeat(endpointTagBytes) } }),
      'tags',
      'limit endpointTagBytes',
    )
    const id = await create(alice.api, '/sessions', { ...wanted, tags: { site: 'north' } })
    const found = async (filter: string) =>
      (await admin.get(`/sessions?filter=${encodeURIComponent(filter)}`)).body.data.map((one: { id: string }) => one.id)
    expect(await found('tags.site = "north"')).toEqual([id])
    expect(await found(`tags.site = "north" and service = "${serviceId}" limit 1`)).toEqual([id])
    expect(await found('tags.site = "south" or not (tags.site = "north")')).toEqual([])
  })

  it('are so many service sessions of an identity, of which the oldest ends for a new one', async () => {
    const { mounted, admin, alice, serviceId } = await network(await mount({ limits: { sessionsPerIdentity: 2 } }))
    const ids = [await create(alice.api, '/sessions', { serviceId, type: 'Dial' })]
    for (const name of ['two', 'three']) {
      mounted.clock.advance(1000)
      const other = await create(admin, '/services', { name, encryptionRequired: true, roleAttributes: ['apps'] })
      ids.push(await create(alice.api, '/sessions', { serviceId: other, type: 'Dial' }))
    }
    const { items } = await mounted.controller.storage.read((tx) => tx.collection(sessions).find())
    expect(items.map(({ id }) => id).sort()).toEqual(ids.slice(1).sort())
  })

  it('are so many certificates of an API session', async () => {
    const mounted = await mount({ limits: { certificatesPerApiSession: 2 } })
    const { api } = await apisOf(mounted, await person(mounted, await adminOf(mounted), 'alice'))
    const ids = []
    for (let n = 0; n < 3; n += 1) {
      mounted.clock.advance(1000)
      const csr = signingRequest(newKey())
      ids.push(await create(api, '/current-api-session/certificates', { csr }))
    }
    const kept = await read(api, '/current-api-session/certificates')
    expect(kept.map(({ id }: { id: string }) => id).sort()).toEqual(ids.slice(1).sort())
  })

  it('is a login with config types, environment and SDK of limited length', async () => {
    const mounted = await mount()
    const alice = await person(mounted, await adminOf(mounted), 'alice')
    const authenticate = (more: object) =>
      foreignClient(mounted, CLIENT).post('/authenticate?method=password', {
        username: alice.username,
        password: alice.password,
        ...more,
      })
    expectFieldError(await authenticate({ configTypes: Array.from({ length: 1001 }, String) }), 'configTypes')
    expectFieldError(await authenticate({ envInfo: { os: 'x'.repeat(256) } }), 'envInfo.os')
    expectFieldError(await authenticate({ sdkInfo: { type: 'x'.repeat(256) } }), 'sdkInfo.type')
    await passwordLogin(mounted, alice)
  })

  it('are failed service requests of so many bytes', async () => {
    const { mounted, admin, alice, serviceId } = await network(await mount())
    const macAddresses = Array.from({ length: 5000 }, (_, n) => n.toString(16).padStart(12, '0'))
    for (const name of ['one', 'two', 'three']) {
      await create(admin, '/posture-checks', { name, typeId: 'MAC', roleAttributes: ['required'], macAddresses })
    }
    for (let n = 0; n < 60; n += 1) {
      expect((await alice.api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(409)
    }
    const failed = await read(admin, `/identities/${alice.id}/failed-service-requests`)
    expect(failed).toHaveLength(50)
    expect(failed[0]).toMatchObject({ serviceId, policyFailures: [{ checks: [] }] })
    expect(JSON.stringify(failed).length).toBeLessThan(50 * (DEFAULT_LIMITS.failedRequestBytes + 500))
    expect(mounted.url).toContain('test')
  })
})

describe('45,000 tags of one byte', () => {
  it('are refused before they are looked at', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const body = JSON.stringify({
      name: 'a',
      tags: Object.fromEntries(Array.from({ length: 45_000 }, (_, n) => [n, 1])),
    })
    const spent: number[] = []
    for (let round = 0; round < 8; round += 1) {
      const begin = process.cpuUsage()
      const headers = { 'content-type': 'application/json' }
      expectFieldError(await admin.send('POST', '/services', { body, headers }), 'tags')
      spent.push(process.cpuUsage(begin).user / 1000)
    }
    expect(Math.min(...spent)).toBeLessThan(60)
  })
})
