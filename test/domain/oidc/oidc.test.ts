import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
// Internals: a pure rule, tried with every input; a controller would let few of them through.
import {
  isListedUri,
  isVerified,
  leftHalf,
  methodsOf,
  nextLogin,
  type RequestLogin,
  redirectUriProblem,
  requireChallenge,
  scopesOf,
  withParameters,
} from '../../../src/facts/oidc/auth-request.rules.ts'
import { chooseIssuer, issuerProblem, issuersOf } from '../../../src/facts/oidc/discovery.rules.ts'

import {
  authorizationUrl,
  discoveryUrl,
  readProvider,
  targetTokenIn,
} from '../../../src/facts/oidc/external-provider.rules.ts'
import { isRevoked, type Revoked } from '../../../src/facts/oidc/refresh-tokens.rules.ts'
import {
  idTokenClaims,
  readToken,
  refreshedClaims,
  type SessionClaims,
  tokenClaims,
  withCertificates,
  withScopes,
} from '../../../src/facts/oidc/token-claims.rules.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('redirect URIs', () => {
  const list = [
    'openziti://auth/callback',
    'http://localhost:*/auth/callback',
    'https://[::1]:*/cb',
    'https://a.test/cb?x=1',
  ]
  it.each([
    ['openziti://auth/callback', true],
    ['http://localhost:1/auth/callback', true],
    ['http://localhost:65535/auth/callback', true],
    ['https://[::1]:8443/cb', true],
    ['https://a.test/cb?x=1', true],
    ['http://localhost:65536/auth/callback', false],
    ['http://localhost:0/auth/callback', false],
    ['http://localhost:01/auth/callback', false],
    ['http://localhost:*/auth/callback', false],
    ['http://localhost:/auth/callback', false],
    ['http://localhost:1:2/auth/callback', false],
    ['http://localhost:1/auth/callback/', false],
    ['https://a.test/cb', false],
    ['HTTPS://a.test/cb?x=1', false],
    ['', false],
  ])('%s: %s', (uri, isListed) => expect(isListedUri(uri, list)).toBe(isListed))

  it.each([
    ['https://console.example/cb', undefined],
    ['my.app:/cb', undefined],
    ['http://127.0.0.1:*/cb', undefined],
    ['http://127.0.0.1:*/*', 'may have * as the port of localhost, 127.0.0.1 or [::1] only'],
    ['https://*.example/cb', 'may have * as the port of localhost, 127.0.0.1 or [::1] only'],
    ['/cb', 'must be an absolute URI'],
    ['javascript:alert(1)', 'must not have the scheme javascript:'],
    ['https://a.test/#', 'must not have a fragment'],
    ['https://u:p@a.test/', 'must not have credentials'],
    [`https://a.test/${'x'.repeat(2048)}`, 'must be at most 2048 chars long'],
  ])('an entry %s: %s', (entry, problem) => expect(redirectUriProblem(entry)).toBe(problem))

  it.each([
    ['https://a.test/cb', { code: 'c', state: 'a b&c=d/é' }, 'https://a.test/cb?code=c&state=a+b%26c%3Dd%2F%C3%A9'],
    ['https://a.test/cb?x=1', { code: 'c', state: null }, 'https://a.test/cb?x=1&code=c'],
    ['https://a.test/cb', { state: null }, 'https://a.test/cb'],
  ])('%s with parameters', (uri, parameters, expected) => expect(withParameters(uri, parameters)).toBe(expected))
})

describe('issuers', () => {
  const issuers = issuersOf(['A.test', '10.0.0.1', '::1', 'a.test'], 1280)
  it('stand for each host once', () => {
    expect(issuers).toEqual(['https://a.test:1280/oidc', 'https://10.0.0.1:1280/oidc', 'https://[::1]:1280/oidc'])
    expect(issuersOf(['a.test'], 443)).toEqual(['https://a.test/oidc'])
  })
  it.each([
    ['a.test:1280', 'https://a.test:1280/oidc'],
    ['A.TEST:1280', 'https://a.test:1280/oidc'],
    ['[::1]:1280', 'https://[::1]:1280/oidc'],
    ['a.test', undefined],
    ['a.test:443', undefined],
    ['b.test:1280', undefined],
    ['a.test:1280/x', undefined],
    ['u@a.test:1280', undefined],
    ['a.test:1280?', undefined],
    ['', undefined],
  ])('%s chooses %s', (host, issuer) => expect(chooseIssuer(host, issuers)).toBe(issuer))
  it.each([
    'http://a.test/oidc',
    'https://a.test/',
    'https://A.test/oidc',
    'https://a.test:443/oidc',
    'https://a.test/oidc/',
    'x',
  ])('%s is none', (issuer) => expect(issuerProblem(issuer)).toContain('is no issuer such as'))
})

describe('proof keys', () => {
  const challenge = createHash('sha256').update('verifier').digest('base64url')
  it('fit their verifier and no other', () => {
    expect(isVerified(challenge, sha256('verifier'))).toBe(true)
    expect(isVerified(challenge, sha256('other'))).toBe(false)
    expect(isVerified('verifier', sha256('verifier'))).toBe(false)
  })
  it.each([
    [undefined, 'S256'],
    ['', 'S256'],
    [challenge, undefined],
    [challenge, 'plain'],
    [`${challenge}=`, 'S256'],
    [challenge.slice(1), 'S256'],
    [`${challenge.slice(1)}+`, 'S256'],
  ])('%s by %s are refused', (text, method) => expect(() => requireChallenge(text, method)).toThrow(/code_challenge/))
  it('the left half of a digest is what at_hash holds', () => {
    const digest = createHash('sha256').update('token').digest()
    expect(leftHalf(sha256('token'))).toBe(digest.subarray(0, 16).toString('base64url'))
  })
})

describe('revocations', () => {
  const token = { jti: 'j', apiSessionId: 's', identityId: 'i', issuedAt: 100 }
  const of = (id: string, type: Revoked['type'], change: Partial<Revoked> = {}): Revoked => ({
    id,
    type,
    updatedAt: 100_500,
    expiresAt: 200_000,
    ...change,
  })
  it.each<readonly [string, Revoked, boolean]>([
    ['of the token', of('j', 'JTI'), true],
    ['of another token', of('k', 'JTI'), false],
    ['of the session', of('s', 'API_SESSION'), true],
    ['of a session of the name of the token', of('j', 'API_SESSION'), false],
    ['of the identity, in the second of the token', of('i', 'IDENTITY'), true],
    ['of the identity, a second before', of('i', 'IDENTITY', { updatedAt: 99_999 }), false],
    ['of the identity, later', of('i', 'IDENTITY', { updatedAt: 300_000 }), true],
    ['of the token, which has expired', of('j', 'JTI', { expiresAt: 150_000 }), false],
  ])('%s', (_name, revocation, expected) => expect(isRevoked(token, [revocation], 150_000)).toBe(expected))
})

const SESSION: SessionClaims = {
  sub: 'i',
  amr: ['password'],
  auth_time: 1,
  scopes: ['openid', 'offline_access'],
  z_aid: 'openziti',
  z_asid: 's',
  z_authid: 'a',
  z_cfs: null,
  z_sdk: {},
  z_env: {},
  z_ra: '127.0.0.1:1',
  z_ice: false,
  z_cer: false,
  z_ckrr: false,
  z_iccc: false,
}
const ISSUE = {
  issuer: 'https://a.test/oidc',
  clientId: 'native',
  audience: ['openziti'],
  issuedAt: 100,
  lifetimeSeconds: 60,
}

describe('claims', () => {
  it('are read as they were written, and nothing else is', () => {
    const written = tokenClaims(SESSION, 'a', 'j', ISSUE)
    expect(readToken(written)).toEqual({
      session: SESSION,
      type: 'a',
      jti: 'j',
      clientId: 'native',
      issuer: ISSUE.issuer,
      issuedAt: 100,
      expiresAt: 160,
    })
    for (const name of ['z_t', 'jti', 'sub', 'z_asid', 'client_id', 'iss', 'iat', 'exp']) {
      expect(readToken({ ...written, [name]: undefined })).toBeUndefined()
    }
    for (const z_t of ['s', 't', '', 'A']) expect(readToken({ ...written, z_t })).toBeUndefined()
  })

  it('of an id token name the person with the scope openid alone, and identity and session always', () => {
    const facts = { name: 'Ann', nonce: 'n', at_hash: 'h', c_hash: undefined }
    const id = idTokenClaims(SESSION, facts, ISSUE)
    expect(id).toMatchObject({ sub: 'i', z_asid: 's', name: 'Ann', z_ia: false, nonce: 'n', at_hash: 'h' })
    expect(id).not.toHaveProperty('c_hash')
    for (const name of ['jti', 'nbf', 'z_t', 'z_cfs', 'scopes', 'acr']) expect(id).not.toHaveProperty(name)
    const without = idTokenClaims(withScopes(SESSION, ['offline_access']), facts, ISSUE)
    expect(without).toMatchObject({ sub: 'i', z_asid: 's' })
    expect(without).not.toHaveProperty('name')
  })

  it('are brought up to date: rights, external id and the second factor', () => {
    const admin = { ...SESSION, z_ia: true as const, z_eid: 'old', amr: ['password', 'totp'] }
    const now = refreshedClaims(admin, { isAdmin: false, externalId: null, hasPassedTotp: false })
    expect(now).toEqual(SESSION)
    const later = refreshedClaims(SESSION, { isAdmin: true, externalId: 'new', hasPassedTotp: true })
    expect(later).toMatchObject({ z_ia: true, z_eid: 'new', amr: ['password', 'totp'] })
    expect(withScopes(SESSION, [])).not.toHaveProperty('scopes')
    expect(withCertificates(SESSION, []).z_cfs).toBeNull()
  })

  it.each([
    ['openid offline_access', ['openid', 'offline_access']],
    ['profile foo email openid openid', ['profile', 'email', 'openid']],
    ['foo', []],
    ['  ', []],
  ])('scopes %s', (asked, kept) => expect(scopesOf(asked)).toEqual(kept))
})

describe('a login after another one on the same request', () => {
  const login = (change: Partial<RequestLogin>): RequestLogin => ({
    identityId: 'ann',
    method: 'password',
    methods: [change.method ?? 'password'],
    authenticatorId: 'a',
    trustAnchorId: null,
    basis: null,
    at: 1,
    fingerprint: null,
    mayHaveExpired: false,
    isCertExtendable: false,
    isExtendRequested: false,
    isKeyRollRequested: false,
    improper: false,
    configTypes: [],
    envInfo: null,
    sdkInfo: null,
    csrPem: null,
    hasPassedTotp: false,
    provenSigner: null,
    ...change,
  })
  it('keeps what was proved for the same identity, and nothing for another', () => {
    const proved = login({
      hasPassedTotp: true,
      provenSigner: { signerId: 'idp', trust: 't', externalId: null },
      csrPem: 'csr',
    })
    const again = nextLogin(proved, login({ method: 'cert', fingerprint: 'f' }))
    expect(methodsOf(again)).toEqual(['password', 'cert', 'totp', 'ejs:idp'])
    expect(again).toMatchObject({ fingerprint: 'f', csrPem: 'csr' })
    const other = login({ identityId: 'ben' })
    expect(nextLogin(proved, other)).toEqual(other)
    expect(nextLogin(null, other)).toEqual(other)
    expect(nextLogin(nextLogin(proved, other), login({})).hasPassedTotp).toBe(false)
  })
})

describe('external providers', () => {
  it.each([
    ['https://idp.test', 'https://idp.test/.well-known/openid-configuration'],
    ['https://idp.test/realms/a/', 'https://idp.test/realms/a/.well-known/openid-configuration'],
  ])('%s is described at %s', (base, url) => expect(discoveryUrl(base)).toBe(url))

  const described = { issuer: 'i', authorization_endpoint: 'https://a.test/in?x=1', token_endpoint: 'https://a.test/t' }
  it.each<readonly [string, unknown, boolean]>([
    ['all of it', described, true],
    ['no issuer', { ...described, issuer: undefined }, false],
    ['a page that runs', { ...described, authorization_endpoint: 'javascript:alert(1)' }, false],
    ['a file', { ...described, token_endpoint: 'file:///etc/passwd' }, false],
    ['a list', [], false],
    ['nothing', null, false],
  ])('%s', (_name, document, isOne) => expect(readProvider(JSON.stringify(document)) !== undefined).toBe(isOne))

  it('send people with a proof key, and keep what their address says', () => {
    const provider = readProvider(JSON.stringify(described))
    if (provider === undefined) throw new Error('none')
    const request = {
      clientId: 'c',
      redirectUri: 'https://b.test/r',
      scopes: ['email', 'openid'],
      state: 's',
      nonce: 'n',
    }
    const url = new URL(authorizationUrl(provider, { ...request, codeChallenge: 'h' }))
    expect(Object.fromEntries(url.searchParams)).toEqual({
      x: '1',
      response_type: 'code',
      client_id: 'c',
      redirect_uri: 'https://b.test/r',
      scope: 'openid email',
      state: 's',
      nonce: 'n',
      code_challenge: 'h',
      code_challenge_method: 'S256',
    })
  })

  it.each<readonly [string, 'ACCESS' | 'ID', string | undefined]>([
    ['{"access_token":"a","id_token":"i"}', 'ACCESS', 'a'],
    ['{"access_token":"a","id_token":"i"}', 'ID', 'i'],
    ['{"access_token":"a"}', 'ID', undefined],
    ['{"access_token":{}}', 'ACCESS', undefined],
    ['{"access_token":""}', 'ACCESS', undefined],
    ['no JSON', 'ACCESS', undefined],
  ])('of %s the %s token is %s', (text, target, token) => expect(targetTokenIn(text, target)).toBe(token))
})
