import type { Storage } from 'portcullis'
import { type MemoryStorage, memoryStorage } from 'portcullis/memory'
import type { ReadCollection, StoredRecord } from 'portcullis/storage'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError } from '../contract/http/errors.ts'
import { create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { integrityResults } from '../support/integrity-results.ts'
import { mount } from '../support/mount.ts'
import { edgeRouters, servicePolicies, services, terminators } from '../support/stored-records.ts'

/** A network in which a service, a policy and a terminator refer to what does not exist. */
async function damaged() {
  const scene = await network(await mount())
  const { admin, mounted, policyId, serviceId, routerId } = scene
  const address = { binding: 'transport', address: 'tcp:localhost:80' }
  const terminatorId = await create(admin, '/terminators', { service: serviceId, router: routerId, ...address })
  await mounted.controller.storage.write(async (tx) => {
    const service = await tx.collection(services).get(serviceId)
    const policy = await tx.collection(servicePolicies).get(policyId)
    const terminator = await tx.collection(terminators).get(terminatorId)
    if (!service || !policy || !terminator) throw new Error('the network is incomplete')
    await tx.collection(services).update({ ...service, configs: ['lost'] })
    await tx.collection(servicePolicies).update({ ...policy, identityRoles: ['#people', '@gone'] })
    await tx.collection(terminators).update({ ...terminator, routerId: 'nowhere' })
  })
  return { ...scene, terminatorId }
}

const start = (admin: ForeignClient, what: string) => admin.send('POST', `/database/${what}-data-integrity`)

describe('data integrity', () => {
  it('before the first run there is nothing to tell', async () => {
    const { admin } = await network(await mount())
    const { body } = await admin.get('/database/data-integrity-results')
    expect(body.data).toEqual({
      endTime: null,
      error: null,
      fixingErrors: false,
      inProgress: false,
      results: [],
      startTime: null,
      tooManyErrors: false,
    })
    expect(body.meta).toMatchObject({ filterableFields: [], pagination: { limit: -1, offset: 0, totalCount: 0 } })
  })

  it('of a sound store finds nothing', async () => {
    const { admin, alice, mounted, serviceId } = await network(await mount())
    await alice.api.post('/sessions', { serviceId, type: 'Dial' })
    const started = await start(admin, 'check')
    expect(started.status).toBe(202)
    expect(started.body.data).toEqual({})
    const now = new Date(mounted.clock.now()).toISOString()
    const { data } = (await integrityResults(admin)).body
    expect(data).toMatchObject({ results: [], error: null, inProgress: false, startTime: now, endTime: now })
  })

  it('a check tells what is wrong and changes nothing', async () => {
    const { admin, policyId, serviceId, terminatorId } = await damaged()
    expect((await start(admin, 'check')).status).toBe(202)
    const { data, meta } = (await integrityResults(admin)).body
    const told = (what: string) => ({ description: what, fixed: false })
    expect(data.results).toHaveLength(3)
    expect(data.results).toEqual(
      expect.arrayContaining([
        told(`servicePolicies ${policyId} references identities gone, which doesn't exist`),
        told(`services.configs has invalid value for services ${serviceId}, which references invalid configs lost`),
        told(
          `terminators.routerId has invalid value for terminators ${terminatorId}, which references invalid edge-routers nowhere`,
        ),
      ]),
    )
    expect(meta.pagination.totalCount).toBe(3)
    expect((await read(admin, `/services/${serviceId}`)).configs).toEqual(['lost'])
  })

  it('a fix mends it: entries are taken out, what cannot be without them is removed', async () => {
    const { admin, policyId, serviceId, terminatorId } = await damaged()
    expect((await start(admin, 'fix')).status).toBe(202)
    const { data } = (await integrityResults(admin)).body
    expect(data.fixingErrors).toBe(true)
    expect(data.results.map(({ fixed }: { fixed: boolean }) => fixed)).toEqual([true, true, true])
    expect((await read(admin, `/services/${serviceId}`)).configs).toEqual([])
    expect((await read(admin, `/service-policies/${policyId}`)).identityRoles).toEqual(['#people'])
    expect((await admin.get(`/terminators/${terminatorId}`)).status).toBe(404)
    await start(admin, 'check')
    expect((await integrityResults(admin)).body.data).toMatchObject({ results: [], fixingErrors: false })
  })

  it('there is one run at a time, checks and fixes together', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { admin } = await network(await mount({ storage: { ...plain(), snapshot: () => gate.promise } }))
    expect((await start(admin, 'fix')).status).toBe(202)
    for (const what of ['check', 'fix']) expectError(await start(admin, what), 'RATE_LIMITED', undefined, 429)
    const { data } = (await admin.get('/database/data-integrity-results')).body
    expect(data).toMatchObject({ inProgress: true, fixingErrors: true, endTime: null })
    gate.resolve(undefined)
    await integrityResults(admin)
    expect((await start(admin, 'check')).status).toBe(202)
    expect((await integrityResults(admin)).body.data.inProgress).toBe(false)
  })

  it('a run that fails says so, and the next one may start', async () => {
    const snapshot = () => Promise.reject(new Error('the disk is full'))
    const { admin } = await network(await mount({ storage: { ...plain(), snapshot } }))
    await start(admin, 'fix')
    const { data } = (await integrityResults(admin)).body
    expect(data).toMatchObject({ inProgress: false, error: expect.stringContaining('failed'), results: [] })
    expect((await start(admin, 'check')).status).toBe(202)
    await integrityResults(admin)
  })

  it('only an admin may', async () => {
    const { alice } = await network(await mount())
    for (const what of ['check', 'fix']) expectError(await start(alice.management, what), 'UNAUTHORIZED')
    expectError(await alice.management.get('/database/data-integrity-results'), 'UNAUTHORIZED')
    expectError(await alice.management.send('POST', '/database/snapshot'), 'UNAUTHORIZED')
  })

  it('two records with one value are told and left to a person', async () => {
    const { admin, routerId } = await network(await mount({ storage: doubling(memoryStorage(), edgeRouters.name) }))
    expectDone(await admin.patch(`/edge-routers/${routerId}`, { name: 'same' }))
    await start(admin, 'check')
    const { results } = (await integrityResults(admin)).body.data
    const value = `both ${routerId} and ${routerId}-2 have the same value`
    const description = `unique index routers.name has constraint violation as ${value}`
    expect(results).toEqual([{ description, fixed: false }])
  })
})

/** A storage in which each record of a kind is read twice, the second time under another id: no storage of ours lets that happen. */
function doubling(storage: MemoryStorage, name: string): Storage {
  const twice = <T extends StoredRecord>(collection: ReadCollection<T>): ReadCollection<T> => ({
    ...collection,
    async *scan(fields) {
      for await (const slice of collection.scan(fields)) {
        yield { ...slice, items: slice.items.flatMap((record) => [record, { ...record, id: `${record.id}-2` }]) }
      }
    },
  })
  return {
    ...storage,
    read: (work) =>
      storage.read((tx) =>
        work({
          ...tx,
          collection: (kind) => (kind.name === name ? twice(tx.collection(kind)) : tx.collection(kind)),
        }),
      ),
  }
}

describe('snapshots', () => {
  it('memory storage keeps one for the host', async () => {
    const storage = memoryStorage()
    const { admin, serviceId } = await network(await mount({ storage }))
    expectDone(await admin.send('POST', '/database/snapshot'))
    await admin.delete(`/services/${serviceId}`)
    const kept = await storage.lastSnapshot?.read((tx) => tx.collection(services).get(serviceId))
    expect(kept).toMatchObject({ id: serviceId })
  })

  it('a storage that makes none says so', async () => {
    const { admin } = await network(await mount({ storage: plain() }))
    const answer = await admin.send('POST', '/database/snapshot')
    expect(answer.status).toBe(501)
    expectError(answer, 'UNHANDLED', { message: 'the storage makes no snapshots' }, 501)
  })

  it('one a minute is made by a storage that can; a fix begins with one', async () => {
    let made = 0
    const snapshot = async () => {
      made += 1
      return undefined
    }
    const storage = { ...plain(), snapshot }
    const { admin, mounted } = await network(await mount({ storage }))
    expectDone(await admin.send('POST', '/database/snapshot'))
    mounted.clock.advance(59_999)
    expectError(await admin.send('POST', '/database/snapshot'), 'RATE_LIMITED', undefined, 429)
    mounted.clock.advance(1)
    expectDone(await admin.send('POST', '/database/snapshot'))
    await start(admin, 'fix')
    await integrityResults(admin)
    expect(made).toBe(3)
  })
})

function plain() {
  const storage = memoryStorage()
  return {
    read: storage.read.bind(storage),
    write: storage.write.bind(storage),
    close: storage.close.bind(storage),
  }
}
