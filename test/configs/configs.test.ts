import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { adminOf, create, type ForeignClient, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const INTERCEPT = 'g7cIWbcGg'
const HOST = 'NH5p4FpGR'
const intercept = { protocols: ['tcp'], addresses: ['web.example'], portRanges: [{ low: 80, high: 80 }] }
const host = { protocol: 'tcp', address: 'localhost', port: 80 }

const twice = [
  { low: 1, high: 2 },
  { high: 2, low: 1 },
]
const forwarding = {
  forwardProtocol: true,
  allowedProtocols: ['tcp', 'udp'],
  forwardAddress: true,
  allowedAddresses: ['*'],
  forwardPort: true,
  allowedPortRanges: [{ low: 1, high: 65_535 }],
}
const portCheck = {
  interval: '5s',
  timeout: '100ms',
  address: 'localhost:80',
  actions: [{ trigger: 'fail', action: 'increase cost 10', consecutiveEvents: 3 }],
}

const config = (admin: ForeignClient, name: string, configTypeId = INTERCEPT, data: object = intercept) =>
  create(admin, '/configs', { name, configTypeId, data })

describe('configs', () => {
  it('is shown with its type, and links to itself only', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const id = await config(admin, 'web')
    const now = new Date(mounted.clock.now()).toISOString()
    expect(await read(admin, `/configs/${id}`)).toEqual({
      _links: { self: { href: `./configs/${id}` } },
      id,
      createdAt: now,
      updatedAt: now,
      tags: {},
      name: 'web',
      data: intercept,
      configTypeId: INTERCEPT,
      configType: {
        _links: { self: { href: `./config-types/${INTERCEPT}` } },
        entity: 'config-types',
        id: INTERCEPT,
        name: 'intercept.v1',
      },
    })
  })

  it('the type is set once; PATCH without data keeps it, with data replaces it whole', async () => {
    const admin = await adminOf(await mount())
    const id = await config(admin, 'web')
    expectDone(await admin.patch(`/configs/${id}`, { name: 'renamed', configTypeId: HOST, tags: { a: 'b' } }))
    expect(await read(admin, `/configs/${id}`)).toMatchObject({
      name: 'renamed',
      configTypeId: INTERCEPT,
      data: intercept,
    })
    const narrower = { ...intercept, addresses: ['other.example'] }
    expectDone(await admin.patch(`/configs/${id}`, { data: narrower }))
    expect((await read(admin, `/configs/${id}`)).data).toEqual(narrower)
    expectDone(await admin.put(`/configs/${id}`, { name: 'put', data: intercept, configTypeId: HOST }))
    expect(await read(admin, `/configs/${id}`)).toMatchObject({ name: 'put', configTypeId: INTERCEPT, tags: {} })
  })

  it.each([
    [{ data: {} }, 'configTypeId', 'configTypeId in body is required'],
    [{ configTypeId: '', data: {} }, 'type', 'config type must be specified'],
    [{ configTypeId: 'unknown', data: {} }, 'type', 'invalid config type'],
    [{ configTypeId: INTERCEPT }, 'data', 'data in body is required'],
    [{ configTypeId: INTERCEPT, data: null }, 'data', 'data in body is required'],
    [{ configTypeId: INTERCEPT, data: 'text' }, 'data', 'invalid type, expected object'],
    [{ configTypeId: INTERCEPT, data: [] }, 'data', 'invalid type, expected object'],
  ])('a create with %j is refused for its %s', async (body, field, reason) => {
    const admin = await adminOf(await mount())
    expectFieldError(await admin.post('/configs', { name: 'x', ...body }), field, reason)
    expect((await admin.get('/configs')).body.data).toEqual([])
  })

  it.each([
    ['a missing member', INTERCEPT, {}, '(root)', '(root) is invalid: protocols is required'],
    ['a foreign member', HOST, { ...host, x: 1 }, '(root)', 'additional property x is not allowed'],
    ['a port out of range', INTERCEPT, withPort(70_000), 'portRanges.0.low', 'must be <= 65535 (at /portRanges/0/low)'],
    ['a condition', HOST, { ...host, forwardPort: true }, '(root)', 'allowedPortRanges is required'],
    ['a value that is none of several', HOST, { ...host, protocol: 'sctp' }, 'protocol', '["tcp","udp"]'],
    ['an empty list', INTERCEPT, { ...intercept, protocols: [] }, 'protocols', 'protocols is invalid'],
    ['equal elements', INTERCEPT, { ...intercept, portRanges: twice }, 'portRanges', 'twice'],
    ['an empty address', INTERCEPT, { ...intercept, addresses: [''] }, 'addresses.0', 'addresses.0 is invalid'],
    [
      'an unfit duration',
      HOST,
      { ...host, listenOptions: { connectTimeout: '5' } },
      'listenOptions.connectTimeout',
      '',
    ],
  ])('%s violates the schema', async (_what, configTypeId, data, field, reason) => {
    const admin = await adminOf(await mount())
    expectFieldError(await admin.post('/configs', { name: 'x', configTypeId, data }), field, reason)
    const id = await config(admin, 'good', configTypeId, configTypeId === HOST ? host : intercept)
    expectFieldError(await admin.put(`/configs/${id}`, { name: 'x', data }), field, reason)
    expectFieldError(await admin.patch(`/configs/${id}`, { data }), field, reason)
    expect((await read(admin, `/configs/${id}`)).name).toBe('good')
  })

  it.each([
    ['a wildcard domain and a block of addresses', INTERCEPT, { ...intercept, addresses: ['*.example', '10.0.0.0/8'] }],
    ['forwarding', HOST, forwarding],
    ['several terminators', 'host.v2', { terminators: [host, forwarding] }],
    ['health checks', HOST, { ...host, portChecks: [portCheck], httpChecks: [] }],
    ['router links', 'router.link.v1', { dialers: [{ groups: 'a' }], listeners: [{ bind: 'tls:0.0.0.0:80' }] }],
  ])('the built-in types take %s', async (_what, configTypeId, data) => {
    const admin = await adminOf(await mount())
    const id = await config(admin, 'x', configTypeId, data)
    expect((await read(admin, `/configs/${id}`)).data).toEqual(data)
  })

  it('a changed schema judges what is written from now on', async () => {
    const admin = await adminOf(await mount())
    const configTypeId = await create(admin, '/config-types', { name: 'mine' })
    const id = await config(admin, 'x', configTypeId, { port: 'eighty' })
    const schema = { type: 'object', properties: { port: { type: 'integer' } } }
    expectDone(await admin.patch(`/config-types/${configTypeId}`, { schema }))
    expectDone(await admin.patch(`/configs/${id}`, { name: 'y' }))
    expectFieldError(await admin.patch(`/configs/${id}`, { data: { port: 'eighty' } }), 'port')
    expectDone(await admin.patch(`/configs/${id}`, { data: { port: 80 } }))
  })

  it('is found by type and by its data', async () => {
    const admin = await adminOf(await mount())
    const configTypeId = await create(admin, '/config-types', { name: 'mine' })
    await config(admin, 'eighty', configTypeId, { port: 80, server: { name: 'a' } })
    await config(admin, 'ninety', configTypeId, { port: 90 })
    await config(admin, 'web')
    const names = async (filter: string) =>
      (await admin.get(`/configs?sort=name&filter=${encodeURIComponent(filter)}`)).body.data.map(
        ({ name }: { name: string }) => name,
      )
    expect(await names('data.port = 80')).toEqual(['eighty'])
    expect(await names('data.server.name = "a"')).toEqual(['eighty'])
    expect(await names(`type = "${INTERCEPT}"`)).toEqual(['web'])
  })
})

describe('configs of services and routers', () => {
  it.each([
    ['/services', INTERCEPT, 'router.link.v1', 'does not target services'],
    ['/edge-routers', 'router.link.v1', INTERCEPT, 'does not target routers'],
  ])('%s take one of each type that is meant for them', async (path, right, wrong, reason) => {
    const admin = await adminOf(await mount())
    const dataOf = (type: string) => (type === INTERCEPT ? intercept : {})
    const first = await config(admin, 'first', right, dataOf(right))
    const second = await config(admin, 'second', right, dataOf(right))
    const foreign = await config(admin, 'foreign', wrong, dataOf(wrong))
    const id = await create(admin, path, { name: 'x', encryptionRequired: true, configs: [first] })
    expect((await read(admin, `${path}/${id}`)).configs).toEqual([first])
    expectFieldError(await admin.patch(`${path}/${id}`, { configs: [first, second] }), 'configs', 'duplicate configs')
    expectFieldError(await admin.patch(`${path}/${id}`, { configs: [foreign] }), 'configs', reason)
    expectUnknown(await admin.patch(`${path}/${id}`, { configs: ['unknown'] }), 'config', 'unknown')
    expectUnknown(await admin.post(path, { name: 'y', encryptionRequired: true, configs: ['no'] }), 'config', 'no')
    expectDone(await admin.patch(`${path}/${id}`, { configs: [second] }))
    expectDone(await admin.delete(`/configs/${second}`))
    expect((await read(admin, `${path}/${id}`)).configs).toEqual([])
  })

  it('lists the configs of a service and the services of a config', async () => {
    const admin = await adminOf(await mount())
    const first = await config(admin, 'first')
    const second = await config(admin, 'second', HOST, host)
    const id = await create(admin, '/services', { name: 'x', encryptionRequired: true, configs: [first, second] })
    await create(admin, '/services', { name: 'y', encryptionRequired: true, configs: [second] })
    const names = async (path: string) =>
      (await admin.get(`${path}?sort=name`)).body.data.map(({ name }: { name: string }) => name)
    expect(await names(`/services/${id}/configs`)).toEqual(['first', 'second'])
    expect(await names(`/configs/${first}/services`)).toEqual(['x'])
    expect(await names(`/configs/${second}/services`)).toEqual(['x', 'y'])
    expect(await names('/configs/unknown/services')).toEqual([])
    expectError(await admin.get('/services/unknown/configs'), 'NOT_FOUND')
  })
})

function withPort(low: number) {
  return { ...intercept, portRanges: [{ low, high: 80_000 }] }
}
