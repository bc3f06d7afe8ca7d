import { TEST_ADMIN } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectError, expectFieldError } from './errors.ts'
import { adminOf, CLIENT, foreignClient, MANAGEMENT } from './foreign-client.ts'
import type { Mount } from './mount.ts'
import { enroll } from './scenario.ts'

/** Authentication and enrollment 1.1, 1.2 and 1.5: who starts an API session, and with what. */
export function describeAuthentication(open: Mount): void {
  it.each([CLIENT, MANAGEMENT, '', '/edge/v1'])(
    'by password at %j starts an API session of both APIs',
    async (base) => {
      const mounted = await open()
      const { status, headers, body } = await foreignClient(mounted, base).post(
        '/authenticate?method=password',
        TEST_ADMIN,
      )
      expect(status).toBe(200)
      const { data } = body
      const now = new Date(mounted.clock.now()).toISOString()
      const later = new Date(mounted.clock.now() + 30 * 60_000).toISOString()
      expect(data).toMatchObject({
        _links: { self: { href: './current-api-session' }, 'current-identity': { href: './current-identity' } },
        authenticatorId: expect.any(String),
        authQueries: [],
        cachedLastActivityAt: now,
        configTypes: [],
        createdAt: now,
        expirationSeconds: 1800,
        expiresAt: later,
        identity: { entity: 'identities', id: data.identityId, name: 'Default Admin' },
        ipAddress: '127.0.0.1',
        isCertExtendable: false,
        isMfaComplete: false,
        isMfaRequired: false,
        lastActivityAt: now,
        tags: {},
        updatedAt: now,
      })
      expect(data).not.toHaveProperty('tokenDigest')
      expect(data.token).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
      expect(headers.get('zt-session')).toBe(data.token)
      expect(headers.get('expiration-seconds')).toBe('1800')
      expect(headers.get('expires-at')).not.toBeNull()
      for (const api of [CLIENT, MANAGEMENT]) {
        const current = await foreignClient(mounted, api, data.token).get('/current-api-session')
        expect(current.body.data).toEqual(data)
      }
    },
  )

  it('by certificate starts an API session whose certificate can be extended', async () => {
    const mounted = await open()
    const { id, certificate } = await enroll(mounted, await adminOf(mounted), { name: 'alice' })
    for (const body of [{}, undefined, { configTypes: [] }, { envInfo: null, sdkInfo: null }]) {
      const answer = await foreignClient(mounted, CLIENT, undefined, certificate).post(
        '/authenticate?method=cert',
        body,
      )
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body.data).toMatchObject({ identityId: id, isCertExtendable: true, improperClientCertChain: false })
    }
  })

  it('with a leaf alone notes that the intermediates were not sent', async () => {
    const mounted = await open()
    const { certificate } = await enroll(mounted, await adminOf(mounted), { name: 'alice' })
    const [leaf = ''] = certificate.cert.split(/(?<=-----END CERTIFICATE-----\n)/)
    const client = foreignClient(mounted, CLIENT, undefined, { ...certificate, cert: leaf })
    const { body } = await client.post('/authenticate?method=cert', {})
    expect(body.data).toMatchObject({ improperClientCertChain: true })
  })

  it('keeps what the client tells of itself, and ignores what it does not know', async () => {
    const mounted = await open()
    const envInfo = { os: 'Linux', arch: 'x86_64', osRelease: '6.1', osVersion: '#1', hostname: 'h', domain: 'd' }
    const sdkInfo = { type: 'ziti-sdk-c', version: '1.2.3', appId: 'a', appVersion: '2', branch: 'b', revision: 'r' }
    const body = { ...TEST_ADMIN, envInfo, sdkInfo: { ...sdkInfo, appID: 'other' }, unknown: { nested: true } }
    const { body: answer } = await foreignClient(mounted, CLIENT).post('/authenticate?method=password', body)
    const { data } = (await foreignClient(mounted, CLIENT, answer.data.token).get('/current-identity')).body
    expect(data).toMatchObject({ hasApiSession: true, authenticators: { updb: { username: TEST_ADMIN.username } } })
    expect(data.envInfo).toEqual(envInfo)
    expect(data.sdkInfo).toEqual(sdkInfo)
    expect(data._links).toEqual({ self: { href: './current-identity' }, mfa: { href: './current-identity/mfa' } })
  })

  describe('that cannot be judged', () => {
    it.each([
      ['no method', '', TEST_ADMIN, 'method'],
      ['an unknown method', '?method=oracle', TEST_ADMIN, 'method'],
      ['a short username', '?method=password', { ...TEST_ADMIN, username: 'abc' }, 'username'],
      ['a long username', '?method=password', { ...TEST_ADMIN, username: 'a'.repeat(101) }, 'username'],
      ['a short password', '?method=password', { ...TEST_ADMIN, password: '1234' }, 'password'],
      ['a long password', '?method=password', { ...TEST_ADMIN, password: 'a'.repeat(101) }, 'password'],
      ['a long os', '?method=password', { ...TEST_ADMIN, envInfo: { os: 'a'.repeat(256) } }, 'envInfo.os'],
      [
        'a long hostname',
        '?method=password',
        { ...TEST_ADMIN, envInfo: { hostname: 'a'.repeat(254) } },
        'envInfo.hostname',
      ],
      [
        'a long version',
        '?method=password',
        { ...TEST_ADMIN, sdkInfo: { version: 'a'.repeat(256) } },
        'sdkInfo.version',
      ],
    ])('by %s is a bad request', async (_what, query, body, field) => {
      const answer = await foreignClient(await open(), CLIENT).post(`/authenticate${query}`, body)
      expectFieldError(answer, field)
      expect(answer.text).not.toContain(TEST_ADMIN.password)
    })

    it.each([{}, { username: TEST_ADMIN.username }, { password: TEST_ADMIN.password }, undefined])(
      'by password for want of credentials (%j) says what is required',
      async (body) => {
        const answer = await foreignClient(await open(), CLIENT).post('/authenticate?method=password', body)
        const message = 'username and password fields are required'
        expectError(answer, 'COULD_NOT_VALIDATE', { code: 'UNHANDLED', message })
      },
    )

    it('by a body of another shape is a bad request', async () => {
      const anybody = foreignClient(await open(), CLIENT)
      const wrong = await anybody.post('/authenticate?method=password', { username: 1, password: true })
      expectError(wrong, 'COULD_NOT_PARSE_BODY')
      const headers = { 'content-type': 'application/json' }
      const broken = await anybody.send('POST', '/authenticate?method=password', { body: '{"username":', headers })
      expectError(broken, 'COULD_NOT_PARSE_BODY', { code: 'UNHANDLED' })
    })
  })
}
