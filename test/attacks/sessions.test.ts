import { describe, expect, it } from 'vitest'
import { expectDone, expectError } from '../contract/http/errors.ts'
import { adminOf, create, read } from '../contract/http/foreign-client.ts'
import { network } from '../contract/http/scenario.ts'
import { mount } from '../support/mount.ts'
import { apisOf, person } from '../support/people.ts'

/** How a session comes to its end, each by another hand; what is answered by the token afterwards is 401. */
const ENDS: readonly [string, (scene: Awaited<ReturnType<typeof sessionScene>>) => Promise<unknown>][] = [
  ['logout', ({ alice }) => alice.api.delete('/current-api-session')],
  ['logout through the other API', ({ alice }) => alice.management.delete('/current-api-session')],
  [
    'an admin who ends it',
    async ({ admin, alice }) => admin.delete(`/api-sessions/${(await read(alice.api, '/current-api-session')).id}`),
  ],
  [
    'disabling the identity',
    ({ admin, alice }) => admin.post(`/identities/${alice.id}/disable`, { durationMinutes: 0 }),
  ],
  ['deleting the identity', ({ admin, alice }) => admin.delete(`/identities/${alice.id}`)],
  [
    'deleting the authenticator',
    async ({ admin, authenticatorId }) => admin.delete(`/authenticators/${authenticatorId}`),
  ],
  [
    'reverting the authenticator',
    ({ admin, authenticatorId, soon }) =>
      admin.post(`/authenticators/${authenticatorId}/re-enroll`, { expiresAt: soon }),
  ],
  [
    'a new password',
    ({ admin, authenticatorId }) => admin.patch(`/authenticators/${authenticatorId}`, { password: 'Another-Horse-1' }),
  ],
  ['thirty minutes without use', async ({ mounted }) => void mounted.clock.advance(30 * 60_000)],
]

async function sessionScene() {
  const mounted = await mount()
  const { admin, serviceId } = await network(mounted)
  const who = await person(mounted, admin, 'somebody', { roleAttributes: ['people'] })
  const apis = await apisOf(mounted, who)
  await create(admin, '/service-policies', {
    name: 'by name',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: [`@${who.id}`],
    serviceRoles: [`@${serviceId}`],
  })
  await create(admin, '/edge-router-policies', {
    name: 'routers',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  })
  const { authenticatorId } = await read(apis.api, '/current-api-session')
  const soon = new Date(mounted.clock.now() + 3_600_000).toISOString()
  return { mounted, admin, alice: { ...who, ...apis }, authenticatorId, serviceId, soon }
}

describe('A21: a session token is worth nothing after', () => {
  it.each(ENDS)('%s, and its service sessions are gone', async (_how, end) => {
    const scene = await sessionScene()
    const { mounted, alice, serviceId } = scene
    const other = await apisOf(mounted, alice)
    const sessionId = await create(alice.api, '/sessions', { serviceId, type: 'Dial' })
    expect((await alice.api.get('/current-identity')).status).toBe(200)
    await end(scene)
    for (const api of [alice.api, alice.management]) {
      const answer = await api.get('/current-api-session')
      expectError(answer, 'UNAUTHORIZED')
      expect(answer.headers.get('www-authenticate')).toBe(
        'zt-session realm="zt-session" error="invalid" error_description="token is invalid"',
      )
    }
    expect((await alice.api.get(`/sessions/${sessionId}`)).status).toBe(401)
    expectError(await (await adminOf(mounted)).get(`/sessions/${sessionId}`), 'NOT_FOUND')
    // A session of the same identity shares its fate unless the end was that of one session alone.
    const isOfOne = _how.startsWith('logout') || _how.startsWith('an admin')
    expect((await other.api.get('/current-identity')).status).toBe(isOfOne ? 200 : 401)
  })

  it('its own holder changed the password with it', async () => {
    const { alice, authenticatorId } = await sessionScene()
    const change = { username: alice.username, password: 'Another-Horse-1', currentPassword: alice.password }
    expectDone(await alice.api.put(`/current-identity/authenticators/${authenticatorId}`, change))
    expectError(await alice.api.get('/current-identity'), 'UNAUTHORIZED')
  })
})
