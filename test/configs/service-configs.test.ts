import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { CLIENT, create, type ForeignClient, foreignClient, read } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'

const HOST = 'NH5p4FpGR'
const ROUTER_LINK = 'router.link.v1'
const host = (port: number) => ({ protocol: 'tcp', address: 'localhost', port })

/** Alice may dial `web`, which has a config of the type `host.v1` and one of the type `colour`. */
async function configured() {
  const scene = await network(await mount())
  const { admin, serviceId } = scene
  const colourId = await create(admin, '/config-types', { name: 'colour' })
  const web = await create(admin, '/configs', { name: 'web', configTypeId: HOST, data: host(80) })
  const red = await create(admin, '/configs', { name: 'red', configTypeId: colourId, data: { is: 'red' } })
  expectDone(await admin.patch(`/services/${serviceId}`, { configs: [web, red] }))
  return { ...scene, colourId, web, red }
}

async function configOf(client: ForeignClient, query: string) {
  const { data } = (await client.get(`/services${query}`)).body
  return data[0].config
}

describe('the configs that a list of services shows', () => {
  it.each([
    ['nothing asked', '', {}],
    ['by name', '?configTypes=host.v1', { 'host.v1': host(80) }],
    ['by id', `?configTypes=${HOST}`, { 'host.v1': host(80) }],
    ['several, separated', '?configTypes=host.v1,colour', { 'host.v1': host(80), colour: { is: 'red' } }],
    ['several, repeated', '?configTypes=host.v1&configTypes=colour', { 'host.v1': host(80), colour: { is: 'red' } }],
    ['all', '?configTypes=all', { 'host.v1': host(80), colour: { is: 'red' } }],
    ['unknown ones are left out', '?configTypes=colour,unknown', { colour: { is: 'red' } }],
    ['types without a config are left out', '?configTypes=intercept.v1', {}],
  ])('%s', async (_what, query, expected) => {
    const { admin, alice } = await configured()
    expect(await configOf(alice.api, query)).toEqual(expected)
    expect(await configOf(admin, query)).toEqual(expected)
  })

  it('follows the API session, which remembers ids', async () => {
    const { alice, colourId, mounted, serviceId } = await configured()
    const login = foreignClient(mounted, CLIENT, undefined, alice.certificate)
    const body = { configTypes: ['colour', HOST, 'unknown'] }
    const { data } = (await login.post('/authenticate?method=cert', body)).body
    expect([...data.configTypes].sort()).toEqual([HOST, colourId].sort())
    const api = foreignClient(mounted, CLIENT, data.token)
    const expected = { 'host.v1': host(80), colour: { is: 'red' } }
    expect(await configOf(api, '')).toEqual(expected)
    expect((await read(api, `/services/${serviceId}`)).config).toEqual(expected)
    expect(await configOf(api, '?configTypes=colour')).toEqual({ colour: { is: 'red' } })
  })

  it('an API session may ask for all', async () => {
    const { alice, mounted } = await configured()
    const login = foreignClient(mounted, CLIENT, undefined, alice.certificate)
    const { data } = (await login.post('/authenticate?method=cert', { configTypes: ['all', 'colour'] })).body
    expect(data.configTypes).toEqual(['all'])
    expect(Object.keys(await configOf(foreignClient(mounted, CLIENT, data.token), '')).sort()).toEqual([
      'colour',
      'host.v1',
    ])
  })
})

describe('configs of an identity for a service', () => {
  it('stand before those of the service, whole, and add types of their own', async () => {
    const { admin, alice, serviceId } = await configured()
    const own = await create(admin, '/configs', { name: 'own', configTypeId: HOST, data: host(8080) })
    const proxy = { port: 1, protocols: ['tcp'] }
    const extra = await create(admin, '/configs', { name: 'extra', configTypeId: 'proxy.v1', data: proxy })
    const pairs = [
      { serviceId, configId: own },
      { serviceId, configId: extra },
    ]
    expectDone(await admin.post(`/identities/${alice.id}/service-configs`, pairs))
    const expected = { 'host.v1': host(8080), colour: { is: 'red' }, 'proxy.v1': proxy }
    expect(await configOf(alice.api, '?configTypes=all')).toEqual(expected)
    expect(await configOf(alice.api, '?configTypes=colour')).toEqual({ colour: { is: 'red' } })
    expect(await configOf(admin, '?configTypes=all')).toMatchObject({ 'host.v1': host(80) })
    expect(await configOf(admin, `?configTypes=all&asIdentity=${alice.id}`)).toEqual(expected)
    expect(await configOf(admin, '?configTypes=all&asIdentity=alice')).toEqual(expected)
  })

  it('are listed with what they refer to', async () => {
    const { admin, alice, serviceId, red } = await configured()
    expectDone(await admin.post(`/identities/${alice.id}/service-configs`, [{ serviceId, configId: red }]))
    const { data, meta } = (await admin.get(`/identities/${alice.id}/service-configs`)).body
    expect(data).toEqual([
      {
        config: { _links: { self: { href: `./configs/${red}` } }, entity: 'configs', id: red, name: 'red' },
        configId: red,
        service: { _links: expect.anything(), entity: 'services', id: serviceId, name: 'web' },
        serviceId,
      },
    ])
    expect(meta.pagination).toEqual({ limit: 1, offset: 0, totalCount: 1 })
  })

  it('there is one per service and type: another replaces it', async () => {
    const { admin, alice, serviceId, red, colourId } = await configured()
    const blue = await create(admin, '/configs', { name: 'blue', configTypeId: colourId, data: { is: 'blue' } })
    const at = `/identities/${alice.id}/service-configs`
    for (const configId of [red, blue, blue]) expectDone(await admin.post(at, [{ serviceId, configId }]))
    const { data } = (await admin.get(at)).body
    expect(data.map(({ configId }: { configId: string }) => configId)).toEqual([blue])
  })

  it('are removed by service and type, whichever config is named; the rest is left alone', async () => {
    const { admin, alice, serviceId, red, web, colourId } = await configured()
    const blue = await create(admin, '/configs', { name: 'blue', configTypeId: colourId, data: {} })
    const at = `/identities/${alice.id}/service-configs`
    const pairs = [red, web].map((configId) => ({ serviceId, configId }))
    expectDone(await admin.post(at, pairs))
    expectDone(await admin.send('DELETE', at))
    expectDone(await admin.send('DELETE', at, { body: [] }))
    expect((await admin.get(at)).body.data).toHaveLength(2)
    expectDone(await admin.send('DELETE', at, { body: [{ serviceId, configId: blue }] }))
    expectDone(await admin.send('DELETE', at, { body: [{ serviceId, configId: blue }] }))
    expect((await admin.get(at)).body.data.map(({ configId }: { configId: string }) => configId)).toEqual([web])
  })

  it('refuses what does not exist or is not meant for services', async () => {
    const { admin, alice, serviceId, red } = await configured()
    const link = await create(admin, '/configs', { name: 'link', configTypeId: ROUTER_LINK, data: {} })
    const at = `/identities/${alice.id}/service-configs`
    const unknown = [{ serviceId: 'unknown', configId: red }]
    expectFieldError(await admin.post(at, unknown), 'serviceConfigs', 'no edge service found with the given id')
    expectUnknown(await admin.post(at, [{ serviceId, configId: 'unknown' }]), 'config', 'unknown')
    expectUnknown(await admin.send('DELETE', at, { body: [{ serviceId, configId: 'x' }] }), 'config', 'x')
    expectFieldError(
      await admin.post(at, [{ serviceId, configId: link }]),
      'serviceConfigs',
      'does not target services',
    )
    expectFieldError(await admin.post(at, [{ serviceId }]), '0.configId', 'is required')
    expectUnknown(await admin.post('/identities/unknown/service-configs', []), 'identity', 'unknown')
    expectUnknown(await admin.get('/identities/unknown/service-configs'), 'identity', 'unknown')
    expect((await admin.get(at)).body.data).toEqual([])
  })

  it('one valid and one unknown pair change nothing', async () => {
    const { admin, alice, serviceId, red } = await configured()
    const at = `/identities/${alice.id}/service-configs`
    const pairs = [red, 'unknown'].map((configId) => ({ serviceId, configId }))
    expectUnknown(await admin.post(at, pairs), 'config', 'unknown')
    expect((await admin.get(at)).body.data).toEqual([])
  })

  it('a config in use by an identity is not deleted; service and identity take the association with them', async () => {
    const { admin, alice, serviceId, red } = await configured()
    const associate = (service: string) =>
      admin.post(`/identities/${alice.id}/service-configs`, [{ serviceId: service, configId: red }])
    expectDone(await associate(serviceId))
    expectError(await admin.delete(`/configs/${red}`), 'CAN_NOT_DELETE_REFERENCED_ENTITY')
    expectDone(await admin.delete(`/services/${serviceId}`))
    expect((await admin.get(`/identities/${alice.id}/service-configs`)).body.data).toEqual([])
    const other = await create(admin, '/services', { name: 'other', encryptionRequired: true })
    expectDone(await associate(other))
    expectDone(await admin.delete(`/identities/${alice.id}`))
    expectDone(await admin.delete(`/configs/${red}`))
  })
})

describe('services in the place of another identity', () => {
  it('shows its permissions and posture queries', async () => {
    const { admin, alice } = await configured()
    const seen = async (query: string) => (await admin.get(`/services${query}`)).body.data[0]
    expect((await seen('')).permissions).toEqual(['Invalid'])
    const service = await seen(`?asIdentity=${alice.id}`)
    expect(service.permissions).toEqual(['Dial'])
    expect(service.postureQueries.map((query: { policyId: string }) => query.policyId)).toEqual([
      'dummy dial policy: no posture checks defined',
    ])
  })

  it('of an unknown one is not found, and nobody but an admin may', async () => {
    const { admin, alice } = await configured()
    const message = 'identity with id or name nobody not found'
    expectError(await admin.get('/services?asIdentity=nobody'), 'NOT_FOUND', { message })
    expectDone(await admin.patch(`/identities/${alice.id}`, { permissions: ['service.read'] }))
    expect((await alice.management.get('/services')).status).toBe(200)
    expectError(await alice.management.get('/services?asIdentity=alice'), 'UNAUTHORIZED')
  })
})

it('what identities said of hosting a service goes with it', async () => {
  const { admin, alice, serviceId } = await configured()
  const kept = await create(admin, '/services', { name: 'kept', encryptionRequired: true })
  const hosting = {
    serviceHostingCosts: { [serviceId]: 0, [kept]: 7 },
    serviceHostingPrecedences: { [serviceId]: 'required', [kept]: 'failed' },
  }
  expectDone(await admin.patch(`/identities/${alice.id}`, hosting))
  expectDone(await admin.delete(`/services/${serviceId}`))
  const left = { serviceHostingCosts: { [kept]: 7 }, serviceHostingPrecedences: { [kept]: 'failed' } }
  expect(await read(admin, `/identities/${alice.id}`)).toMatchObject(left)
  expect((await read(admin, `/identities/${alice.id}`)).serviceHostingCosts).toEqual({ [kept]: 7 })
})
