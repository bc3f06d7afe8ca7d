import { createTestController, type TestController } from 'portcullis/testing'
import 'portcullis/testing/vitest'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let net: TestController

beforeEach(async () => {
  net = await createTestController({
    model: {
      identities: [
        { name: 'laptop', type: 'Device', isAdmin: false, roleAttributes: ['staff'] },
        { name: 'server', type: 'Service', isAdmin: false },
      ],
      services: [{ name: 'wiki' }, { name: 'payroll' }],
      postureChecks: [{ name: 'second factor', typeId: 'MFA', roleAttributes: ['proved'] }],
      servicePolicies: [
        { name: 'wiki', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['@wiki'] },
        { name: 'host', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@server'], serviceRoles: ['#all'] },
        {
          ...{
            name: 'payroll',
            type: 'Dial',
            semantic: 'AnyOf',
            identityRoles: ['#staff'],
            serviceRoles: ['@payroll'],
          },
          postureCheckRoles: ['#proved'],
        },
      ],
    },
  })
})
afterEach(() => net.close())

describe('the reach of an identity', () => {
  it('is all that it may dial and bind, by name', async () => {
    expect(await net.reach('laptop')).toEqual({ dial: ['wiki'], bind: [] })
    expect(await net.reach('server')).toEqual({ dial: [], bind: ['payroll', 'wiki'] })
    expect(await net.reach('laptop', { posture: { mfa: true } })).toEqual({ dial: ['payroll', 'wiki'], bind: [] })
  })

  it('is told of nobody who is not there, whatever services there are', async () => {
    await expect(net.reach('lap-top')).rejects.toThrow(/^there is no identity 'lap-top'$/)
    await expect(net.reach('laptop', { mayBeAbsent: true } as never)).rejects.toThrow('mayBeAbsent')
    await using empty = await createTestController()
    await expect(empty.reach('laptop')).rejects.toThrow("there is no identity 'laptop'")
  })
})

it('access may be asserted with a second factor that is taken to be proved', async () => {
  await expect(net).not.toAllow('laptop', 'Dial', 'payroll')
  await expect(net).toAllow('laptop', 'Dial', 'payroll', { posture: { mfa: true } })
  const wrong = { posture: { mfa: 'yes' as never } }
  await expect(expect(net).toAllow('laptop', 'Dial', 'payroll', wrong)).rejects.toThrow('posture.mfa takes a boolean')
})

describe('a fault of a route', () => {
  it('is that of its next request, in whichever API, and of no other', async () => {
    net.faults.next({ status: 503 }, 'POST /sessions')
    const laptop = net.as('laptop')
    expect((await laptop.call('GET /services')).data.length).toBe(2)
    await expect(laptop.dial('wiki')).rejects.toMatchObject({ status: 503 })
    await expect(laptop.dial('wiki')).resolves.toMatchObject({ type: 'Dial' })
  })

  it('tells the one by its template', async () => {
    net.faults.every(1, { status: 429 }, 'GET /services/{id}')
    const { id } = (await net.admin.call('GET /services')).data[0] ?? { id: '' }
    await expect(net.admin.call('GET /services/{id}', { params: { id } })).rejects.toMatchObject({ status: 429 })
  })

  it('is refused where no operation has the route', () => {
    const next = () => net.faults.next({ status: 503 }, 'POST /session' as never)
    expect(next).toThrow("no operation has the route 'POST /session' (did you mean 'POST /sessions'?)")
  })
})

describe('the record of requests', () => {
  it('has each with its operation, its caller and its end', async () => {
    const laptop = net.as('laptop')
    const { id } = (await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })).data[0] ?? {}
    const before = net.requests.length
    net.faults.next({ status: 503 }, 'POST /sessions')
    await laptop.dial('wiki').catch(() => undefined)
    await laptop.dial('wiki')
    await net.fetch(new Request('https://controller.test/edge/client/v1/nothing'))
    const asked = net.requests.slice(before).filter(({ api }) => api !== 'management')
    expect(asked).toMatchObject([
      { api: 'client', route: 'POST /sessions', status: 503, identityId: undefined },
      { api: 'client', route: 'POST /sessions', status: 201, identityId: id, at: net.clock.now() },
      { api: undefined, route: undefined, method: 'GET', path: '/edge/client/v1/nothing', status: 404 },
    ])
  })

  it('leaves the authorization of the host as it is', async () => {
    await using guarded = await createTestController({ authorize: ({ operation }) => operation !== 'GET /services' })
    await expect(guarded.admin.call('GET /services')).rejects.toMatchObject({ status: 403 })
    expect(guarded.requests.at(-1)).toMatchObject({ route: 'GET /services', status: 403 })
  })
})
