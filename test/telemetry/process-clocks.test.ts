import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { decodeJwt, SignJWT } from 'jose'
import { memoryStorage } from 'portcullis/memory'
import { createTestController, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { adminOf, CLIENT, create, MANAGEMENT } from '../contract/http/foreign-client.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { mount } from '../support/mount.ts'
import { bearing, openIdTokens, refresh } from '../support/openid.ts'
import { authPolicy, login, person } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const NOW = Date.UTC(2026, 5, 1)
const SECOND_MS = 1000

/** Two controllers over one storage, of which one has a clock that is ahead by the given milliseconds. */
async function two(aheadMs: number) {
  const storage = memoryStorage()
  const warnings: string[] = []
  const silent = { info: () => undefined, error: () => undefined }
  const logger = {
    ...silent,
    warn: (message: string, fields?: object) => warnings.push(`${message} ${JSON.stringify(fields)}`),
  }
  const behind = await createTestController(await withSharedPki({ storage, now: NOW, probes: true, logger }))
  const ahead = await createTestController(await withSharedPki({ storage, now: NOW + aheadMs, probes: true }))
  return { behind, ahead, warnings }
}

const readiness = async (controller: TestController) => {
  const answer = await controller.fetch(new Request('https://controller.test:1280/readyz'))
  return [answer.status, await answer.text()]
}

/** Facts that one process makes and the other may see before its own clock has come to them. */
const WAYS: readonly (readonly [string, (behind: TestController, ahead: TestController) => Promise<unknown>])[] = [
  [
    'a session that the other began',
    async (behind, ahead) => {
      const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
      const { token } = (await ahead.management.call('POST /authenticate', login)).data
      const headers = { 'zt-session': token }
      const request = new Request(`https://controller.test:1280${MANAGEMENT}/services`, { headers })
      // A session that began too far ahead is none.
      const isBorne = ahead.clock.now() - behind.clock.now() <= 60 * SECOND_MS
      expect((await behind.fetch(request)).status).toBe(isBorne ? 200 : 401)
    },
  ],
  [
    'an entity that the other wrote, when it is changed',
    async (behind, ahead) => {
      const { data } = await (await ahead.asAdmin()).call('POST /services', { body: { name: 's' } })
      const [params, body] = [{ id: data.id }, { name: 't' }]
      await (await behind.asAdmin()).call('PATCH /services/{id}', { params, body })
    },
  ],
  [
    'a token that is not valid yet',
    async (behind, ahead) => {
      const nbf = Math.floor(ahead.clock.now() / 1000)
      const { key, cert } = ahead.tls()
      const claims = { iss: 'https://controller.test:1280/oidc', sub: 'a', nbf, exp: nbf + 600 }
      const token = await new SignJWT(claims)
        .setProtectedHeader({
          alg: 'ES256',
          kid: createHash('sha1').update(new X509Certificate(cert).raw).digest('hex'),
        })
        .sign(createPrivateKey(key))
      const headers = { authorization: `Bearer ${token}` }
      const request = new Request(`https://controller.test:1280${MANAGEMENT}/services`, { headers })
      expect((await behind.fetch(request)).status).toBe(401)
    },
  ],
]

describe('two processes over one storage whose clocks differ', () => {
  it.each(WAYS)('by 90 seconds: the one that is behind tells its operator at %s', async (_what, meet) => {
    const { behind, ahead, warnings } = await two(90 * SECOND_MS)
    expect(await readiness(behind)).toEqual([200, 'ok\n'])
    await meet(behind, ahead)
    await meet(behind, ahead).catch(() => undefined)
    expect(warnings).toEqual([
      expect.stringMatching(/^the clock is behind that of another process .*"behindSeconds":90\}$/),
    ])
    const warning = 'warning: the clock is 90 s behind that of another process over the same storage'
    expect(await readiness(behind)).toEqual([200, `ok\n${warning}\n`])
    expect(await readiness(ahead)).toEqual([200, 'ok\n'])
    behind.clock.advance(90 * SECOND_MS)
    behind.clock.advance(5 * 60 * SECOND_MS)
    expect(await readiness(behind)).toEqual([200, 'ok\n'])
  })

  it.each(WAYS)('by 30 seconds: nobody is told at %s', async (_what, meet) => {
    const { behind, ahead, warnings } = await two(30 * SECOND_MS)
    await meet(behind, ahead)
    expect([warnings, await readiness(behind)]).toEqual([[], [200, 'ok\n']])
  })

  it.each([
    [59, 200],
    [60, 200],
    [61, 401],
  ])(
    'by %d seconds: tokens of the one that is ahead are answered %d by the one that is behind',
    async (apart, status) => {
      const storage = memoryStorage()
      const behind = await mount({ storage, now: NOW, allowPrivateJwks: true })
      const ahead = await mount({ storage, now: NOW + apart * SECOND_MS, allowPrivateJwks: true })
      const { access_token, refresh_token } = await openIdTokens(ahead)
      expect((await bearing(behind, access_token)).status).toBe(status)
      expect((await refresh(behind, refresh_token)).status).toBe(status === 200 ? 200 : 400)
      // Tokens end when they say so, by the clock of the process that is asked.
      const { exp = 0 } = decodeJwt(access_token)
      behind.clock.set(exp * SECOND_MS)
      expect((await bearing(behind, access_token)).status).toBe(401)
    },
  )

  it.each([
    [60, 200],
    [61, 401],
  ])('by %d seconds: a second factor of a signer whose clock is right is answered %d', async (apart, status) => {
    const storage = memoryStorage()
    const behind = await mount({ storage, now: NOW, allowPrivateJwks: true })
    const ahead = await mount({ storage, now: NOW + apart * SECOND_MS, allowPrivateJwks: true })
    const admin = await adminOf(ahead)
    const idp = await identityProvider()
    const { issuer, endpoint } = idp
    const signer = { name: 'idp', issuer, audience: 'network', enabled: true, jwksEndpoint: endpoint }
    const id = await create(admin, '/external-jwt-signers', signer)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('guarded', {}, { requireExtJwtSigner: id }))
    const alice = await person(ahead, admin, 'alice', { authPolicyId })
    const { token } = (await login(behind, alice)).body.data
    const seconds = Math.floor(ahead.clock.now() / 1000)
    const proof = await idp.token(ahead.clock.now(), { sub: alice.id, iat: seconds, nbf: seconds })
    const headers = { authorization: `Bearer ${proof}`, 'zt-session': token }
    expect((await behind.fetch(`${CLIENT}/services`, { headers })).status).toBe(status)
  })

  it('are found by the doctor on the machine that is behind', async () => {
    const { behind, ahead } = await two(90 * SECOND_MS)
    await ahead.management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })
    const told = (await behind.engine.host.findings()).filter(({ kind }) => kind === 'clock-behind')
    expect(told.map(({ text }) => text)).toEqual(['the clock is 2 minutes behind the newest change of an API session'])
    expect((await ahead.engine.host.findings()).filter(({ kind }) => kind === 'clock-behind')).toEqual([])
  })
})
