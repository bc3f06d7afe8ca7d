import { routerSide } from 'portcullis/fabric'
import { bodyOf, TEST_ADMIN } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { completeMfa } from '../../support/mfa-enrollment.ts'
import { mountOf } from '../../support/mount.ts'
import { bearing, begin, codeOf, exchangeCode, openIdTokens, proofKey, step, tokensIn } from '../../support/openid.ts'
import { fabricWorld, host, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE } = routerSide
const LINE_16: readonly number[] = []
const LINE_20: readonly number[] = [1]
const REFUSED = 'no policy whose posture checks pass lets the identity in'
const OS = {
  name: 'os',
  typeId: 'OS',
  operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }],
  roleAttributes: ['checked'],
}
const MINUTE_MS = 60_000

/** A client with a bearer session at a router with these capabilities. */
async function bearerWorld(capabilities: readonly number[], hasMfa = false) {
  const world = await fabricWorld()
  const { serviceId, dial } = await tunnelNetwork(world)
  const router = await world.router('r1', { capabilities, fields: { isTunnelerEnabled: true } })
  await host(router, serviceId)
  const mounted = mountOf(world.controller)
  const { access_token } = hasMfa ? await tokensByMfa(mounted) : await openIdTokens(mounted, TEST_ADMIN)
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await bearing(mounted, access_token, `/edge/client/v1${path}`, init)
    expect(answer.status).toBe(201)
    return (await answer.json()) as { readonly data: { readonly token: string } }
  }
  const { data } = await post('/sessions', { serviceId, type: 'Dial' })
  return {
    world,
    report: (version: string) => post('/posture-response', { id: '0', typeId: 'OS', type: 'Linux', version }),
    /** The circuit that was laid, or why there is none. */
    dial: async () => {
      const request = { apiSessionToken: access_token, sessionToken: data.token }
      const answer = await router.request(CONTENT_TYPE.createCircuit, routerSide.CreateCircuit.encode(request))
      if (answer.contentType === CONTENT_TYPE.error) return new TextDecoder().decode(bodyOf(answer))
      return routerSide.CircuitCreated.decode(bodyOf(answer)).circuitId
    },
    check: async (check: object) => {
      await world.create('/posture-checks', check)
      await world.call('PATCH', `/service-policies/${dial}`, { postureCheckRoles: ['#checked'] })
    },
    ended: () => world.told('circuit.closed').map(({ circuitId, reason }) => [circuitId, reason]),
  }
}

async function tokensByMfa(mounted: ReturnType<typeof mountOf>) {
  const mfa = await completeMfa(mounted, { id: '', ...TEST_ADMIN })
  const key = proofKey()
  const id = await begin(mounted, key)
  const { username, password } = TEST_ADMIN
  expect((await step(mounted, id, 'password', { username, password })).status).toBe(200)
  expect((await step(mounted, id, 'totp', { code: mfa.code() })).status).toBe(302)
  return tokensIn(await exchangeCode(mounted, await codeOf(mounted, id), key))
}

it('a bearer session whose posture its router cannot judge is judged here, and refused where nothing passes', async () => {
  const { check, dial, report } = await bearerWorld(LINE_16)
  await check(OS)
  expect(await dial()).toBe(REFUSED)
  await report('6.1.0')
  expect(await dial()).not.toBe(REFUSED)
})

it.each([
  ['cannot judge posture', LINE_16],
  ['judges what clients report to it', LINE_20],
])('a running circuit ends with the posture that carried it, at a router that %s', async (_what, capabilities) => {
  const { check, dial, report, ended } = await bearerWorld(capabilities)
  await check(OS)
  await report('6.1.0')
  const circuit = await dial()
  await report('6.2.0')
  expect(ended()).toEqual([])
  await report('5.9.0')
  await vi.waitFor(() => expect(ended()).toEqual([[circuit, 'access-lost']]))
})

it.each([
  ['cannot judge posture', LINE_16],
  ['judges what clients report to it', LINE_20],
])('a running circuit ends when its second factor runs out, at a router that %s', async (_what, capabilities) => {
  const { world, check, dial, ended } = await bearerWorld(capabilities, true)
  await check({ name: 'mfa', typeId: 'MFA', timeoutSeconds: 600, roleAttributes: ['checked'] })
  const circuit = await dial()
  await world.controller.elapse(8 * MINUTE_MS)
  expect(ended()).toEqual([])
  await world.controller.elapse(2 * MINUTE_MS + 1000)
  await vi.waitFor(() => expect(ended()).toEqual([[circuit, 'access-lost']]))
})

it('posture that a client reports to its router alone is for the router: what is unknown here cuts nothing', async () => {
  const { check, dial, report, ended, world } = await bearerWorld(LINE_20)
  const circuit = await dial()
  await check(OS)
  await world.controller.elapse(5000)
  expect(ended()).toEqual([])
  // From now on it is known here, and has to go on.
  await report('6.1.0')
  await report('5.9.0')
  await vi.waitFor(() => expect(ended()).toEqual([[circuit, 'access-lost']]))
})

it('what changes while a circuit is laid counts for it', async () => {
  const world = await fabricWorld()
  const { serviceId, dial } = await tunnelNetwork(world)
  let isDeleted: Promise<unknown> | undefined
  const router = await world.router('r1', {
    fields: { isTunnelerEnabled: true },
    onRoute: () => {
      isDeleted = world.call('DELETE', `/service-policies/${dial}`)
      return undefined
    },
  })
  await host(router, serviceId)
  const body = routerSide.CreateTunnelCircuit.encode({ serviceName: 'web' })
  const answer = router.request(CONTENT_TYPE.createTunnelCircuit, body)
  const route = await router.next(({ contentType }) => contentType === CONTENT_TYPE.route)
  await vi.waitFor(() => expect(isDeleted).toBeDefined())
  await isDeleted
  const { circuitId, attempt } = routerSide.Route.decode(bodyOf(route))
  const headers = new Map([
    [routerSide.HEADER.routeAttempt, routerSide.uint32Header(attempt)],
    [routerSide.HEADER.routeSuccess, routerSide.boolHeader(true)],
  ])
  router.send(CONTENT_TYPE.routeResult, new TextEncoder().encode(circuitId), headers)
  expect(new TextDecoder().decode(bodyOf(await answer))).toBe('the access was lost while the circuit was laid')
  expect(Object.values(await world.call('GET', '/fabric/v1/circuits'))).toEqual([])
})
