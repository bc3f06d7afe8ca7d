import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const CLOSED = { type: 'object', properties: { port: { type: 'integer' } }, additionalProperties: false }

describe('config types', () => {
  it('a new controller has the built-in ones, under their ids', async () => {
    const admin = await adminOf(await mount())
    const { data } = (await admin.get('/config-types?sort=name')).body
    expect(data.map(({ id, name, target }: Record<string, unknown>) => [name, id, target])).toEqual([
      ['host.v1', 'NH5p4FpGR', 'service'],
      ['host.v2', 'host.v2', 'service'],
      ['intercept.v1', 'g7cIWbcGg', 'service'],
      ['interfaces.v1', 'interfaces.v1', 'service'],
      ['proxy.v1', 'proxy.v1', 'service'],
      ['router.link.v1', 'router.link.v1', 'router'],
      ['ziti-tunneler-client.v1', 'f2dd2df0-9c04-4b84-a91e-71437ac229f1', 'service'],
      ['ziti-tunneler-server.v1', 'cea49285-6c07-42cf-9f52-09a9b115c783', 'service'],
    ])
    for (const { schema } of data) expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
  })

  it('is shown with its schema and target, and links to itself only', async () => {
    const mounted = await mount()
    const admin = await adminOf(mounted)
    const id = await create(admin, '/config-types', { name: 'one', schema: CLOSED })
    const now = new Date(mounted.clock.now()).toISOString()
    expect(await read(admin, `/config-types/${id}`)).toEqual({
      _links: { self: { href: `./config-types/${id}` } },
      id,
      createdAt: now,
      updatedAt: now,
      tags: {},
      name: 'one',
      schema: CLOSED,
      target: 'service',
    })
  })

  it('without a schema it shows null', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, '/config-types', { name: 'free' })
    expect(await read(admin, `/config-types/${id}`)).toMatchObject({ schema: null, target: 'service' })
  })

  it('the target is set once', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, '/config-types', { name: 'one', target: 'router' })
    expectDone(await admin.put(`/config-types/${id}`, { name: 'two', target: 'service' }))
    expectDone(await admin.patch(`/config-types/${id}`, { target: 'other' }))
    expect(await read(admin, `/config-types/${id}`)).toMatchObject({ name: 'two', target: 'router' })
  })

  it('PUT without schema takes it away, PATCH keeps it', async () => {
    const admin = await adminOf(await mount())
    const id = await create(admin, '/config-types', { name: 'one', schema: CLOSED })
    expectDone(await admin.patch(`/config-types/${id}`, { name: 'two', tags: { a: 1 } }))
    expect(await read(admin, `/config-types/${id}`)).toMatchObject({ name: 'two', schema: CLOSED, tags: { a: 1 } })
    expectDone(await admin.put(`/config-types/${id}`, { name: 'three' }))
    expect(await read(admin, `/config-types/${id}`)).toMatchObject({ name: 'three', schema: null, tags: {} })
  })

  it.each([
    [{ name: 'all' }, 'name', 'all is a keyword and may not be used as a config type name'],
    [{ name: '' }, 'name', 'name is required'],
    [{}, 'name', 'name in body is required'],
    [{ name: 'host.v1' }, 'name', 'name must be unique'],
    [{ name: 'x', target: 'moon' }, 'target', 'should be one of'],
    [{ name: 'x', schema: 'object' }, 'schema', 'invalid type, expected object'],
    [{ name: 'x', schema: [] }, 'schema', 'invalid type, expected object'],
    [{ name: 'x', schema: { properties: {} } }, 'schema', 'root type must be object'],
    [{ name: 'x', schema: { type: 'array' } }, 'schema', 'root type must be object'],
    [{ name: 'x', schema: { type: ['object'] } }, 'schema', 'root type must be object'],
    [{ name: 'x', schema: { type: 'object', required: 7 } }, 'schema', 'invalid schema'],
    [{ name: 'x', schema: { type: 'object', properties: { a: { type: 'nothing' } } } }, 'schema', 'invalid schema'],
  ])('%j is refused for its %s', async (body, field, reason) => {
    const admin = await adminOf(await mount())
    expectFieldError(await admin.post('/config-types', body), field, reason)
    const id = await create(admin, '/config-types', { name: 'good', schema: CLOSED })
    if ('target' in body) return
    expectFieldError(await admin.put(`/config-types/${id}`, body), field, reason)
    expect(await read(admin, `/config-types/${id}`)).toMatchObject({ name: 'good', schema: CLOSED })
  })

  // The weight of a schema follows references in the same way: by another way a schema could lead back to itself.
  it.each<[string, string, object]>([
    [
      'an inner schema has an id',
      '#/definitions/a',
      { $id: 'http://x.example/', definitions: { a: { type: 'string' } } },
    ],
    ['a pointer has a number sign', '#/definitions/b#/', {}],
    ['a name has a slash', '#/definitions/c~1d', {}],
  ])('references lead through the whole document where %s', async (_, $ref, more) => {
    const admin = await adminOf(await mount())
    const integer = { type: 'integer' }
    const schema = {
      type: 'object',
      definitions: { a: integer, 'b#': { '': integer }, b: { type: 'string' }, 'c/d': integer },
      properties: { port: { ...more, allOf: [{ $ref }] } },
    }
    const configTypeId = await create(admin, '/config-types', { name: 'one', schema })
    expect(await read(admin, `/config-types/${configTypeId}`)).toMatchObject({ schema })
    await create(admin, '/configs', { name: 'number', configTypeId, data: { port: 1 } })
    expectFieldError(
      await admin.post('/configs', { name: 'text', configTypeId, data: { port: 'a' } }),
      'port',
      'integer',
    )
  })

  it('one in use is not deleted; one that is not, may be, built in or not', async () => {
    const admin = await adminOf(await mount())
    const configTypeId = await create(admin, '/config-types', { name: 'used' })
    const config = await create(admin, '/configs', { name: 'c', configTypeId, data: {} })
    expectError(await admin.delete(`/config-types/${configTypeId}`), 'CAN_NOT_DELETE_REFERENCED_ENTITY')
    expectDone(await admin.delete(`/configs/${config}`))
    expectDone(await admin.delete(`/config-types/${configTypeId}`))
    expectUnknown(await admin.get(`/config-types/${configTypeId}`), 'config type', configTypeId)
    expectDone(await admin.delete('/config-types/host.v2'))
  })

  it('lists its configs, filtered and paged', async () => {
    const admin = await adminOf(await mount())
    const configTypeId = await create(admin, '/config-types', { name: 'mine' })
    const other = await create(admin, '/config-types', { name: 'other' })
    for (const port of [1, 2, 3]) await create(admin, '/configs', { name: `c${port}`, configTypeId, data: { port } })
    await create(admin, '/configs', { name: 'foreign', configTypeId: other, data: {} })
    const { data, meta } = (
      await admin.get(`/config-types/${configTypeId}/configs?filter=data.port>1&sort=name&limit=1`)
    ).body
    expect(data.map(({ name }: { name: string }) => name)).toEqual(['c2'])
    expect(meta.pagination).toEqual({ limit: 1, offset: 0, totalCount: 2 })
    expect(meta.filterableFields).toEqual(expect.arrayContaining(['name', 'type', 'data']))
  })
})
