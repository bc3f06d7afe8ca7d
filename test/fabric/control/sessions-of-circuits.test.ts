import { FakeRouter } from 'portcullis/testing'
import { describe, expect, it, vi } from 'vitest'
import { identityProvider } from '../../support/jwks-server.ts'
import { completeMfa } from '../../support/mfa-enrollment.ts'
import { mountOf } from '../../support/mount.ts'
import { authPolicy } from '../../support/people.ts'
import { type FabricWorld, fabricWorld, twoProcesses } from './fabric-world.ts'
import { dialedBy, logIn, registered, sdkWorld, sessionOf, unroutes } from './sdk-world.ts'

const MINUTE_MS = 60_000
/** Milliseconds within which what was lost is cut. */
const SOON_MS = 2000
const OS = {
  name: 'os',
  typeId: 'OS',
  operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }],
  roleAttributes: ['checked'],
}

/** A session that one process makes, which is gone then, and a router of another process where it dials. */
async function leftBehind(
  prepare: (network: Awaited<ReturnType<typeof sdkWorld>>, apiToken: string) => Promise<unknown>,
) {
  const { here, there } = await twoProcesses()
  const network = await sdkWorld(here)
  const apiToken = await logIn(here, 'client')
  await prepare(network, apiToken)
  const session = await sessionOf(here, apiToken, network.serviceId, 'Dial')
  const router = new FakeRouter(await here.enroll('r2'), there.listener)
  await router.connect()
  expect((await registered(router, network.hosting, 'terminator-2')).result).toBe('success')
  await here.controller.close()
  const { circuitId } = await dialedBy(router, session)
  expect(circuitId).toBeDefined()
  return { there, router, session, circuitId, ended: () => there.told('circuit.closed').map(({ reason }) => reason) }
}

function post({ controller }: FabricWorld, apiToken: string, path: string, body: object) {
  const headers = { 'content-type': 'application/json', 'zt-session': apiToken }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  return controller.fetch(new Request(`https://controller.test/edge/client/v1${path}`, init))
}

describe('a session whose process is gone is judged by the process where it is used', () => {
  it('and ends by time: idle for half an hour it carries nothing', async () => {
    const { there, router, session, circuitId, ended } = await leftBehind(async () => undefined)
    await there.controller.elapse(29 * MINUTE_MS)
    expect(ended()).toEqual([])
    await there.controller.elapse(MINUTE_MS + SOON_MS)
    await vi.waitFor(() => expect(unroutes(router)).toContainEqual({ circuitId, now: true }))
    expect(ended()).toEqual(['session-ended'])
    expect((await dialedBy(router, session)).refused).toMatch(/^invalid (api )?session$/)
  })

  it('and by posture: with a second factor that runs out its circuits do', async () => {
    const { there, router, session, circuitId } = await leftBehind(async ({ world, dialPolicy }, apiToken) => {
      const mounted = mountOf(world.controller)
      const mfa = await completeMfa(mounted, { id: '', username: 'client', password: 'client-password' })
      await world.create('/posture-checks', {
        name: 'mfa',
        typeId: 'MFA',
        timeoutSeconds: 600,
        roleAttributes: ['checked'],
      })
      await world.call('PATCH', `/service-policies/${dialPolicy}`, { postureCheckRoles: ['#checked'] })
      expect((await post(world, apiToken, '/authenticate/mfa', { code: mfa.code() })).status).toBe(200)
    })
    await there.controller.elapse(9 * MINUTE_MS)
    expect(unroutes(router)).toEqual([])
    await there.controller.elapse(2 * MINUTE_MS)
    await vi.waitFor(() => expect(unroutes(router)).toContainEqual({ circuitId, now: true }))
    expect((await dialedBy(router, session)).refused).toBe('no policy whose posture checks pass lets the identity in')
  })

  it('and by posture that is demanded from now on', async () => {
    const { there, router, session, circuitId } = await leftBehind(async ({ world }, apiToken) => {
      await world.create('/posture-checks', OS)
      const report = { id: '0', typeId: 'OS', type: 'Linux', version: '5.0.0' }
      expect((await post(world, apiToken, '/posture-response', report)).status).toBe(201)
    })
    const [policy] = Object.values(await there.call('GET', '/service-policies?filter=name="Dial"'))
    const path = `/service-policies/${Reflect.get(Object(policy), 'id')}`
    await there.call('PATCH', path, { postureCheckRoles: ['#checked'] })
    await vi.waitFor(() => expect(unroutes(router)).toContainEqual({ circuitId, now: true }))
    expect((await dialedBy(router, session)).refused).toMatch(/^(invalid session|no policy whose posture checks pass)/)
  })
})

describe('a factor that is demanded from now on', () => {
  it('is asked of running circuits and new ones: a one-time password', async () => {
    const { world, router, serviceId, clientId } = await sdkWorld()
    const session = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
    const { circuitId } = await dialedBy(router, session)
    const authPolicyId = await world.create('/auth-policies', authPolicy('totp'))
    await world.call('PATCH', `/identities/${clientId}`, { authPolicyId })
    expect(unroutes(router)).toEqual([])
    await world.call('PATCH', `/auth-policies/${authPolicyId}`, { secondary: { requireTotp: true } })
    await vi.waitFor(() => expect(unroutes(router)).toEqual([{ circuitId, now: true }]))
    expect((await dialedBy(router, session)).refused).toBe('the api session is not fully authenticated')
  })

  it('is asked of running circuits and new ones: a token of a signer, until a request brings one', async () => {
    const network = await sdkWorld(await fabricWorld({}, { allowPrivateJwks: true }))
    const { world, router, serviceId, clientId } = network
    const session = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
    const { circuitId } = await dialedBy(router, session)
    const idp = await identityProvider()
    const { issuer, endpoint: jwksEndpoint } = idp
    const signer = { name: 'idp', issuer, audience: 'network', enabled: true, jwksEndpoint }
    const signerId = await world.create('/external-jwt-signers', signer)
    const change = authPolicy('signed', {}, { requireExtJwtSigner: signerId })
    await world.call('PATCH', `/identities/${clientId}`, { authPolicyId: await world.create('/auth-policies', change) })
    await vi.waitFor(() => expect(unroutes(router)).toEqual([{ circuitId, now: true }]))
    expect((await dialedBy(router, session)).refused).toBe('the api session is not fully authenticated')
    const headers = {
      'zt-session': session.apiToken,
      authorization: `Bearer ${await idp.token(world.controller.clock.now(), { sub: clientId })}`,
    }
    const asked = new Request('https://controller.test/edge/client/v1/services', { headers })
    expect((await world.controller.fetch(asked)).status).toBe(200)
    expect((await dialedBy(router, session)).circuitId).toBeDefined()
    await world.call('PATCH', `/external-jwt-signers/${signerId}`, { enabled: false })
    expect((await dialedBy(router, session)).refused).toBe('the api session is not fully authenticated')
  })
})
