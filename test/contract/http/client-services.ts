import { describe, expect, it } from 'vitest'
import { expectDone, expectUnknown } from './errors.ts'
import { CLIENT, create, foreignClient, read } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { enrolled, network } from './scenario.ts'

const BIND = { type: 'Bind', semantic: 'AnyOf', identityRoles: ['#people'], serviceRoles: ['#apps'] }

/** The services of the caller. */
export function describeClientServices(open: Mount): void {
  it('are those that the caller may dial or bind, with what it may do', async () => {
    const { admin, alice, serviceId } = await network(await open())
    await create(admin, '/services', { name: 'hidden', encryptionRequired: true })
    const { data, meta } = (await alice.api.get('/services')).body
    expect(meta.pagination).toEqual({ limit: 10, offset: 0, totalCount: 1 })
    expect(meta.filterableFields).toContain('name')
    expect(data).toEqual([await read(alice.api, `/services/${serviceId}`)])
    expect(data[0]).toMatchObject({
      _links: { self: { href: `./services/${serviceId}` }, configs: { href: `./services/${serviceId}/configs` } },
      id: serviceId,
      name: 'web',
      config: {},
      encryptionRequired: true,
      permissions: ['Dial'],
      roleAttributes: ['apps'],
      terminatorStrategy: 'smartrouting',
    })
  })

  it('say Bind before Dial, and Invalid to an admin who may do neither', async () => {
    const { admin, alice, serviceId } = await network(await open())
    await create(admin, '/service-policies', { name: 'bind', ...BIND })
    expect((await read(alice.api, `/services/${serviceId}`)).permissions).toEqual(['Bind', 'Dial'])
    expect((await read(admin, `/services/${serviceId}`)).permissions).toEqual(['Invalid'])
  })

  it('of an admin are its own, too', async () => {
    const { mounted, admin, serviceId } = await network(await open())
    const own = foreignClient(mounted, CLIENT, admin.token)
    expect((await own.get('/services')).body.data).toEqual([])
    expectUnknown(await own.get(`/services/${serviceId}`), 'service', serviceId)
  })

  it('that the caller may not reach are as unknown as those that are not', async () => {
    const { admin, alice } = await network(await open())
    const hidden = await create(admin, '/services', { name: 'hidden', encryptionRequired: true })
    expectUnknown(await alice.api.get(`/services/${hidden}`), 'service', hidden)
    expectUnknown(await alice.api.get('/services/unknown'), 'service', 'unknown')
    expect((await alice.api.get('/services?filter=name="hidden"')).body.data).toEqual([])
    expect((await alice.api.get(encodeURI('/services?filter=true or name="hidden"'))).body.data).toHaveLength(1)
  })

  it('can be filtered, ordered and paged', async () => {
    const { admin, alice } = await network(await open())
    for (const name of ['api', 'db']) {
      await create(admin, '/services', { name, encryptionRequired: true, roleAttributes: ['apps'] })
    }
    const names = async (query: string) =>
      (await alice.api.get(encodeURI(`/services?${query}`))).body.data.map(({ name }: { name: string }) => name)
    expect(await names('sort=name')).toEqual(['api', 'db', 'web'])
    expect(await names('filter=name="db"')).toEqual(['db'])
    expect(await names('limit=1&offset=1&sort=name desc')).toEqual(['db'])
  })

  describe('follow at once', () => {
    it.each<[string, (world: Awaited<ReturnType<typeof network>>) => Promise<unknown>]>([
      ['the deletion of the policy', ({ admin, policyId }) => admin.delete(`/service-policies/${policyId}`)],
      [
        'a policy that becomes AllOf',
        ({ admin, policyId }) =>
          admin.patch(`/service-policies/${policyId}`, { semantic: 'AllOf', serviceRoles: ['#apps', '#other'] }),
      ],
      [
        'a service that loses its attribute',
        ({ admin, serviceId }) => admin.patch(`/services/${serviceId}`, { roleAttributes: [] }),
      ],
      [
        'an identity that loses its attribute',
        ({ admin, alice }) => admin.patch(`/identities/${alice.id}`, { roleAttributes: ['x'] }),
      ],
      ['the deletion of the service', ({ admin, serviceId }) => admin.delete(`/services/${serviceId}`)],
    ])('%s', async (_what, change) => {
      const world = await network(await open())
      expect((await world.alice.api.get('/services')).body.data).toHaveLength(1)
      expect(await change(world)).toMatchObject({ status: 200 })
      expect((await world.alice.api.get('/services')).body.data).toEqual([])
      expectUnknown(await world.alice.api.get(`/services/${world.serviceId}`), 'service', world.serviceId)
    })

    it('a change of semantic alone, and of the type of a policy', async () => {
      const { admin, alice, policyId, serviceId } = await network(await open())
      const at = `/service-policies/${policyId}`
      expectDone(await admin.patch(at, { serviceRoles: ['#apps', '#other'] }))
      expect((await alice.api.get('/services')).body.data).toHaveLength(1)
      expectDone(await admin.patch(at, { semantic: 'AllOf' }))
      expect((await alice.api.get('/services')).body.data).toEqual([])
      expectDone(await admin.patch(at, { semantic: 'AnyOf', type: 'Bind' }))
      expect((await read(alice.api, `/services/${serviceId}`)).permissions).toEqual(['Bind'])
      expect(await read(admin, at)).toMatchObject({ type: 'Bind', postureCheckRoles: ['#required'] })
    })

    it('an @id, also under AllOf, and #all', async () => {
      const { mounted, admin, serviceId } = await network(await open())
      const bob = await enrolled(mounted, admin, { name: 'bob' })
      expect((await bob.api.get('/services')).body.data).toEqual([])
      const byId = { identityRoles: ['#none', `@${bob.id}`], serviceRoles: ['#none', `@${serviceId}`] }
      const policy = { name: 'by id', type: 'Dial', semantic: 'AllOf', ...byId }
      const id = await create(admin, '/service-policies', policy)
      expect((await bob.api.get('/services')).body.data).toHaveLength(1)
      await create(admin, '/services', { name: 'another', encryptionRequired: true })
      expectDone(await admin.patch(`/service-policies/${id}`, { serviceRoles: ['#all'] }))
      expect((await bob.api.get('/services')).body.data).toHaveLength(2)
      expectDone(await admin.patch(`/service-policies/${id}`, { identityRoles: ['#all'], serviceRoles: [] }))
      expect((await bob.api.get('/services')).body.data).toEqual([])
    })
  })
}
