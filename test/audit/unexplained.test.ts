import { openOperator, SYSTEM_CALL } from 'portcullis'
import { expect, it } from 'vitest'
import { NETWORK_MODEL } from '../sdk/network-model.ts'
import { network } from '../support/network.ts'
import { identities, services } from '../support/stored-records.ts'

it('every entity of a network that requests made, changed and deleted is explained', async () => {
  const { controller: net } = await network({ model: NETWORK_MODEL })
  const { unexplained } = await openOperator({ storage: net.storage })
  const { engine, admin } = net
  const laptop = await net.enroll('laptop', { roleAttributes: ['clients'] })
  await admin.call('PATCH /identities/{id}', { params: { id: laptop.id }, body: { roleAttributes: ['a', 'b'] } })
  const wiki = await engine.services.create(SYSTEM_CALL, { name: 'wiki', encryptionRequired: false, tags: { a: 1 } })
  await engine.services.patch(SYSTEM_CALL, wiki.id, { name: 'wiki 2', tags: {} })
  const gone = await engine.services.create(SYSTEM_CALL, { name: 'gone', encryptionRequired: true })
  await engine.services.delete(SYSTEM_CALL, gone.id)
  await admin.call('POST /edge-routers', { body: { name: 'edge' } })
  await net.elapse(3_600_000)
  const finding = await unexplained()
  expect(finding).toMatchObject({ count: 0, entities: [] })
  expect(finding.compared).toBeGreaterThan(10)
})

it('names what somebody altered, removed, added and brought back in the database', async () => {
  const { controller: net } = await network({ model: NETWORK_MODEL })
  const { storage } = net
  const { unexplained } = await openOperator({ storage })
  const make = (name: string) => net.engine.services.create(SYSTEM_CALL, { name, encryptionRequired: true })
  const [altered, removed, deleted] = [await make('altered'), await make('removed'), await make('deleted')]
  const record = await storage.read((tx) => tx.collection(services).get(deleted.id))
  await net.engine.services.delete(SYSTEM_CALL, deleted.id)
  const laptop = await net.enroll('laptop')
  await net.elapse(10_000)
  await storage.write(async (tx) => {
    const [service, identity] = [tx.collection(services), tx.collection(identities)]
    const before = (await service.get(altered.id)) ?? expect.fail()
    await service.update({ ...before, encryptionRequired: false })
    await service.delete(removed.id)
    await service.insert(record ?? expect.fail())
    await service.insert({ ...before, id: 'added', name: 'added', createdAt: net.clock.now() })
    await identity.update({ ...((await identity.get(laptop.id)) ?? expect.fail()), isAdmin: true })
  })
  const { count, entities } = await unexplained()
  const told = entities.map(({ kind, name, what, fields }) => [kind, name, what, ...fields])
  expect(told.toSorted()).toEqual(
    [
      ['identities', 'laptop', 'altered', 'isAdmin'],
      ['services', 'added', 'added'],
      ['services', 'altered', 'altered', 'encryptionRequired'],
      ['services', 'deleted', 'returned'],
      ['services', 'removed', 'gone'],
    ].toSorted(),
  )
  expect(count).toBe(5)
})
