import { describe, expect, it } from 'vitest'
import { expectDone, expectFieldError, expectUnknown } from '../contract/http/errors.ts'
import { create, read } from '../contract/http/foreign-client.ts'
import { network as scenario } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { network } from '../support/network.ts'

const HOSTED = {
  entities: {
    service: ['/services', { name: 's', encryptionRequired: true }],
    router: ['/edge-routers', { name: 'r' }],
  },
} as const

/** The least that a terminator needs. */
function minimalOf({ service, router }: { readonly service: string; readonly router: string }) {
  return { service, router, binding: 'transport', address: 'tcp:localhost:80' }
}

describe('terminators', () => {
  it('is shown with its service and router; its secret is not', async () => {
    const { mounted, admin, service, router } = await network(HOSTED)
    const minimal = minimalOf({ service, router })
    const id = await create(admin, '/terminators', { ...minimal, identity: 'me', identitySecret: 'c2VjcmV0' })
    const now = new Date(mounted.clock.now()).toISOString()
    const shown = await read(admin, `/terminators/${id}`)
    expect(shown).toEqual({
      _links: { self: { href: `./terminators/${id}` } },
      id,
      createdAt: now,
      updatedAt: now,
      tags: {},
      address: 'tcp:localhost:80',
      binding: 'transport',
      cost: 0,
      dynamicCost: 0,
      identity: 'me',
      precedence: 'default',
      router: {
        _links: { self: { href: `./transit-routers/${router}` } },
        entity: 'transit-routers',
        id: router,
        name: 'r',
      },
      routerId: router,
      service: { _links: expect.anything(), entity: 'services', id: service, name: 's' },
      serviceId: service,
    })
    expect((await admin.get(`/services/${service}/terminators?filter=instanceId="me"`)).body.data).toEqual([shown])
    expect((await admin.get(`/terminators?filter=router="${router}" and service="${service}"`)).body.data).toEqual([
      shown,
    ])
  })

  it('service, identity and secret are set once; the router may change', async () => {
    const { admin, service, router } = await network(HOSTED)
    const minimal = minimalOf({ service, router })
    const other = await create(admin, '/services', { name: 'other', encryptionRequired: true })
    const transit = await create(admin, '/routers', { name: 't' })
    const id = await create(admin, '/terminators', { ...minimal, identity: 'me' })
    const changed = { router: transit, service: other, identity: 'you', cost: 9, precedence: 'failed', tags: { a: 1 } }
    expectDone(await admin.patch(`/terminators/${id}`, changed))
    const expected = { routerId: transit, serviceId: service, identity: 'me', cost: 9, precedence: 'failed' }
    expect(await read(admin, `/terminators/${id}`)).toMatchObject(expected)
    expect((await read(admin, `/terminators/${id}`)).router.name).toBe('t')
    expectDone(await admin.put(`/terminators/${id}`, { ...minimal, service: other, identity: 'you' }))
    const reset = { serviceId: service, identity: 'me', cost: 0, precedence: 'default', tags: {} }
    expect(await read(admin, `/terminators/${id}`)).toMatchObject(reset)
  })

  it.each([
    ['tcp:localhost:80', 'transport'],
    ['udp:localhost:53', 'udp'],
  ])('an empty binding of %s is %s', async (address, binding) => {
    const { admin, ...ids } = await network(HOSTED)
    const minimal = minimalOf(ids)
    const id = await create(admin, '/terminators', { ...minimal, address, binding: '' })
    expect((await read(admin, `/terminators/${id}`)).binding).toBe(binding)
  })

  it.each(['service', 'router', 'binding', 'address'])('needs its %s', async (member) => {
    const { admin, ...ids } = await network(HOSTED)
    const minimal = minimalOf(ids)
    const body = { ...minimal, [member]: undefined }
    expectFieldError(await admin.post('/terminators', body), member, `${member} in body is required`)
    const id = await create(admin, '/terminators', minimal)
    expectFieldError(await admin.put(`/terminators/${id}`, body), member, `${member} in body is required`)
  })

  it.each(['router', 'address'])('has a %s that is not empty', async (member) => {
    const { admin, ...ids } = await network(HOSTED)
    const minimal = minimalOf(ids)
    const body = { ...minimal, [member]: '' }
    expectFieldError(await admin.post('/terminators', body), member)
    const id = await create(admin, '/terminators', minimal)
    expectFieldError(await admin.put(`/terminators/${id}`, body), member)
    expectFieldError(await admin.patch(`/terminators/${id}`, { [member]: '' }), member)
  })

  it('names a service and a router that exist', async () => {
    const { admin, ...ids } = await network(HOSTED)
    const minimal = minimalOf(ids)
    expectUnknown(await admin.post('/terminators', { ...minimal, service: 'x' }), 'service', 'x')
    expectUnknown(await admin.post('/terminators', { ...minimal, router: 'x' }), 'edge router', 'x')
    expectFieldError(await admin.post('/terminators', { ...minimal, cost: -1 }), 'cost')
    expectFieldError(await admin.post('/terminators', { ...minimal, precedence: 'x' }), 'precedence')
    expectUnknown(await admin.get('/services/x/terminators'), 'service', 'x')
  })

  it.each(['service', 'router'] as const)('goes with its %s', async (kind) => {
    const { admin, ...ids } = await network(HOSTED)
    const minimal = minimalOf(ids)
    const id = await create(admin, '/terminators', minimal)
    const at = kind === 'service' ? '/services' : '/edge-routers'
    expectDone(await admin.delete(`${at}/${minimal[kind]}`))
    expectUnknown(await admin.get(`/terminators/${id}`), 'terminator', id)
  })
})

describe('terminators on the client API', () => {
  it('shows no address and no cost to who may dial the service; to others there is no service', async () => {
    const { admin, alice, serviceId, routerId } = await scenario(await mount())
    const id = await create(admin, '/terminators', {
      service: serviceId,
      router: routerId,
      binding: 'transport',
      address: 'tcp:secret:80',
    })
    const { data } = (await alice.api.get(`/services/${serviceId}/terminators`)).body
    expect(data).toEqual([
      {
        _links: { self: { href: `./terminators/${id}` } },
        createdAt: expect.any(String),
        id,
        identity: '',
        routerId,
        service: { _links: expect.anything(), entity: 'services', id: serviceId, name: 'web' },
        serviceId,
        tags: {},
        updatedAt: expect.any(String),
      },
    ])
    const hidden = await create(admin, '/services', { name: 'hidden', encryptionRequired: true })
    expectUnknown(await alice.api.get(`/services/${hidden}/terminators`), 'service', hidden)
  })
})
