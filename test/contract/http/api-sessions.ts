import { expect, it } from 'vitest'
import { disable } from '../../support/identity-state.ts'
import { expectDone, expectError } from './errors.ts'
import { type Answer, adminOf, CLIENT, foreignClient, MANAGEMENT } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { certificateLogin, enrolled, network } from './scenario.ts'

const MINUTE_MS = 60_000
const MISSING = 'error="missing" error_description="no matching token was provided"'
const INVALID = 'error="invalid" error_description="token is invalid"'
const NO_TOKEN = `zt-session realm="zt-session" ${MISSING},Bearer realm="openziti-oidc" ${MISSING}`
const BAD_TOKEN = `zt-session realm="zt-session" ${INVALID}`
const BAD_BEARER = `Bearer realm="openziti-oidc" ${INVALID}`

function expectChallenge(answer: Answer, challenge: string): void {
  expectError(answer, 'UNAUTHORIZED', { code: 'UNHANDLED', message: 'unauthenticated for invalid credentials' })
  expect(answer.headers.get('www-authenticate')).toBe(challenge)
}

/** Authentication and enrollment 1.4, 1.5 and 1.11: how an API session is shown, kept and lost. */
export function describeApiSessions(open: Mount): void {
  it.each<[string, Record<string, string>, string]>([
    ['no token', {}, NO_TOKEN],
    ['a blank token', { 'zt-session': '  ' }, NO_TOKEN],
    ['an unknown token', { 'zt-session': '00000000-0000-4000-8000-000000000000' }, BAD_TOKEN],
    ['garbage for a token', { 'zt-session': "' OR 1=1 --" }, BAD_TOKEN],
    ['a very long token', { 'zt-session': 'x'.repeat(8000) }, BAD_TOKEN],
    ['a bearer token that nobody issued', { authorization: 'Bearer abc' }, BAD_BEARER],
    ['a bearer token beside a bad session token', { 'zt-session': 'x', authorization: 'Bearer abc' }, BAD_TOKEN],
    ['the wrong scheme', { authorization: 'Basic YWRtaW46YWRtaW4=' }, NO_TOKEN],
    ['a token in a cookie', { cookie: 'zt-session=x' }, NO_TOKEN],
  ])('%s is challenged', async (_what, headers, challenge) => {
    const mounted = await open()
    for (const path of [`${CLIENT}/services`, `${MANAGEMENT}/identities`, `${CLIENT}/current-api-session`]) {
      expectChallenge(await foreignClient(mounted, '').send('GET', path, { headers }), challenge)
    }
  })

  it('a request without session is not judged further, however bad its body', async () => {
    const anybody = foreignClient(await open(), MANAGEMENT)
    const headers = { 'content-type': 'text/html' }
    expectChallenge(await anybody.send('POST', '/identities', { body: '{{{', headers }), NO_TOKEN)
  })

  it('a lack of permission is 401 without a challenge, and comes after the body is judged', async () => {
    const mounted = await open()
    const { management } = await enrolled(mounted, await adminOf(mounted), { name: 'somebody' })
    const refused = await management.post('/services', { name: 'x', encryptionRequired: true })
    expectError(refused, 'UNAUTHORIZED', null)
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expectError(await management.post('/services', {}), 'COULD_NOT_VALIDATE', { field: 'name' })
  })

  it('logout ends the API session and the service sessions that it carries', async () => {
    const { mounted, alice, serviceId } = await network(await open())
    expect((await alice.api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(201)
    expectDone(await alice.api.delete('/current-api-session'))
    expectChallenge(await alice.api.get('/services'), BAD_TOKEN)
    expectChallenge(await alice.api.delete('/current-api-session'), BAD_TOKEN)
    const again = foreignClient(mounted, CLIENT, await certificateLogin(mounted, alice.certificate))
    expect((await again.get('/sessions')).body.data).toEqual([])
  })

  it('ends after thirty minutes without use, and not a moment before', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    mounted.clock.advance(30 * MINUTE_MS - 1)
    expect((await admin.get('/current-api-session')).status).toBe(200)
    mounted.clock.advance(30 * MINUTE_MS)
    expectChallenge(await admin.get('/current-api-session'), BAD_TOKEN)
  })

  it('lasts as long as it is used, by whatever request', async () => {
    const mounted = await open()
    const admin = await adminOf(mounted)
    for (const path of [
      '/services',
      '/current-identity',
      '/services/unknown',
      '/identities?filter=nonsense',
      '/services',
    ]) {
      mounted.clock.advance(29 * MINUTE_MS)
      expect((await admin.get(path)).status, path).not.toBe(401)
    }
    const { data } = (await admin.get('/current-api-session')).body
    expect(data.lastActivityAt).toBe(new Date(mounted.clock.now()).toISOString())
    expect(data.expiresAt).toBe(new Date(mounted.clock.now() + 30 * MINUTE_MS).toISOString())
  })

  it('ends when its identity is disabled', async () => {
    const { mounted, alice } = await network(await open())
    await disable(mounted.controller, alice.id)
    expectError(await alice.api.get('/services'), 'UNAUTHORIZED', { code: 'UNHANDLED' })
  })

  it('ends when its identity is deleted', async () => {
    const { admin, alice } = await network(await open())
    expectDone(await admin.delete(`/identities/${alice.id}`))
    expectChallenge(await alice.api.get('/current-identity'), BAD_TOKEN)
  })

  it('is shown on its identity while it lasts', async () => {
    const { mounted, admin, alice } = await network(await open())
    const shown = async () => (await admin.get(`/identities/${alice.id}`)).body.data.hasApiSession
    expect(await shown()).toBe(true)
    for (let minutes = 0; minutes < 40; minutes += 20) {
      mounted.clock.advance(20 * MINUTE_MS)
      expect((await admin.get('/version')).status).toBe(200)
      expect((await admin.get('/current-identity')).status).toBe(200)
    }
    expect(await shown()).toBe(false)
  })
}
