import { createHmac, createPublicKey } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient } from '../contract/http/foreign-client.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { mount } from '../support/mount.ts'
import { authPolicy, login, person } from '../support/people.ts'

type Provider = Awaited<ReturnType<typeof identityProvider>>

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** One signer; each way to present a token answers the status, and the one of a good token is 200. */
async function scene(algorithm = 'ES256') {
  const mounted = await mount({ allowPrivateJwks: true })
  const admin = await adminOf(mounted)
  const idp = await identityProvider()
  if (algorithm !== 'ES256') await idp.rotate('key-rsa', algorithm)
  const signer = { name: 'idp', issuer: idp.issuer, audience: 'network', enabled: true, jwksEndpoint: idp.endpoint }
  const id = await create(admin, '/external-jwt-signers', { ...signer, enrollToTokenEnabled: true })
  const guarded = await create(admin, '/auth-policies', authPolicy('guarded', {}, { requireExtJwtSigner: id }))
  const alice = await person(mounted, admin, 'alice', { authPolicyId: guarded })
  const session: string = (await login(mounted, alice)).body.data.token
  const anybody = foreignClient(mounted, CLIENT)
  const now = () => mounted.clock.now()
  const send = (method: string, path: string, token: string, headers: object = {}) =>
    anybody.send(method, path, {
      body: method === 'POST' ? {} : undefined,
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
  const ways = {
    primary: async (token: string) => (await send('POST', '/authenticate?method=ext-jwt', token)).status,
    secondary: async (token: string) => (await send('GET', '/services', token, { 'zt-session': session })).status,
    enrollment: async (token: string) => (await send('POST', '/enroll/token', token)).status,
    bearer: async (token: string) => (await send('GET', '/services', token)).status,
  }
  return { mounted, admin, idp, alice, now, ways, send }
}

/** Claims that every way would accept, signed by somebody who wants to be the provider. */
const goodClaims = (idp: Provider, sub: string, now: number) => {
  const seconds = Math.floor(now / 1000)
  return { iss: idp.issuer, aud: 'network', sub, iat: seconds, exp: seconds + 300 }
}

function hmac(header: object, claims: object, secret: string | Buffer): string {
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

describe('A11: no token route accepts', () => {
  const forgeries: readonly [string, (idp: Provider, claims: object) => Promise<string>][] = [
    ['alg none', async (idp, claims) => `${encoded({ alg: 'none', kid: idp.state.kid })}.${encoded(claims)}.`],
    ['alg None', async (idp, claims) => `${encoded({ alg: 'None', kid: idp.state.kid })}.${encoded(claims)}.`],
    [
      'alg none with a signature',
      async (idp, claims) => `${encoded({ alg: 'none', kid: idp.state.kid })}.${encoded(claims)}.AAAA`,
    ],
    ['no alg', async (idp, claims) => `${encoded({ kid: idp.state.kid })}.${encoded(claims)}.AAAA`],
    [
      'HS256 with the public key in PEM',
      async (idp, claims) => {
        const key = await importJWK(idp.keys.at(-1) ?? {})
        if (key instanceof Uint8Array) throw new Error('not a public key')
        return hmac({ alg: 'HS256', kid: idp.state.kid }, claims, await exportSPKI(key))
      },
    ],
    [
      'HS256 with the public key in DER',
      async (idp, claims) => {
        const key = createPublicKey({ key: { ...idp.keys.at(-1) }, format: 'jwk' })
        return hmac({ alg: 'HS256', kid: idp.state.kid }, claims, key.export({ type: 'spki', format: 'der' }))
      },
    ],
    ['HS256 with nothing', async (idp, claims) => hmac({ alg: 'HS256', kid: idp.state.kid }, claims, '')],
    [
      'a signature of zeroes (CVE-2022-21449)',
      async (idp, claims) =>
        `${encoded({ alg: 'ES256', kid: idp.state.kid })}.${encoded(claims)}.${Buffer.alloc(64).toString('base64url')}`,
    ],
    [
      'an empty signature',
      async (idp, claims) => `${encoded({ alg: 'ES256', kid: idp.state.kid })}.${encoded(claims)}.`,
    ],
    ['a key of the forger', (idp, claims) => signed('ES256', idp.state.kid, claims)],
    ['RS256 by a key of the forger', (idp, claims) => signed('RS256', idp.state.kid, claims)],
    ['an algorithm that the key is not of', (idp, claims) => signed('ES384', idp.state.kid, claims)],
    [
      'a critical extension that nobody knows',
      async (idp, claims) =>
        `${encoded({ alg: 'ES256', kid: idp.state.kid, crit: ['x'], x: 1 })}.${encoded(claims)}.AAAA`,
    ],
  ]

  async function signed(alg: string, kid: string, claims: object): Promise<string> {
    const { privateKey } = await generateKeyPair(alg)
    return new SignJWT({ ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey)
  }

  it.each(['ES256', 'RS256'])('a forged token, where the key is for %s', async (algorithm) => {
    const { idp, alice, now, ways } = await scene(algorithm)
    const good = await idp.token(now(), { sub: alice.id })
    expect([await ways.primary(good), await ways.secondary(good)]).toEqual([200, 200])
    for (const [what, forge] of forgeries) {
      const token = await forge(idp, goodClaims(idp, alice.id, now()))
      for (const [way, present] of Object.entries(ways)) {
        expect([401, 400], `${what} by ${way}`).toContain(await present(token))
      }
    }
    expect(await ways.enrollment(await idp.token(now(), { sub: 'newcomer' }))).toBe(200)
  })
})

describe('A12: what a token says of its key is not believed', () => {
  it('whatever its header holds', async () => {
    const { idp, alice, now, ways } = await scene()
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const jwk = await exportJWK(publicKey)
    const elsewhere = await identityProvider()
    const kids = ['../../key-1', "' OR 1=1 --", '__proto__', 'constructor', 'x'.repeat(65_536), '\u0000', '']
    const headers = [
      ...kids.map((kid) => ({ kid })),
      { kid: 'key-1', jwk },
      { kid: 'mine', jwk: { ...jwk, kid: 'mine' } },
      { kid: elsewhere.state.kid, jku: elsewhere.endpoint },
      { kid: 'key-1', x5u: elsewhere.endpoint, x5c: ['AAAA'] },
    ]
    for (const header of headers) {
      const token = await new SignJWT(goodClaims(idp, alice.id, now()))
        .setProtectedHeader({ alg: 'ES256', ...header })
        .sign(privateKey)
      for (const [way, present] of Object.entries(ways)) {
        expect([400, 401, 431], `${JSON.stringify(header).slice(0, 60)} by ${way}`).toContain(await present(token))
      }
    }
    expect(elsewhere.state.fetches).toBe(0)
    expect(await ways.primary(await idp.token(now(), { sub: alice.id }))).toBe(200)
  })
})

describe('A13: a token counts for the signer that it names, and for no other', () => {
  it('of three signers that share keys and key ids, one of them disabled', async () => {
    const { mounted, admin, idp, now, ways } = await scene()
    const shared = { audience: 'network', enabled: true, jwksEndpoint: idp.endpoint }
    const ids = new Map<string, string>()
    for (const name of ['one', 'two', 'off']) {
      const signer = { ...shared, name, issuer: `https://${name}.example`, enabled: name !== 'off' }
      ids.set(name, await create(admin, '/external-jwt-signers', signer))
    }
    const people = new Map<string, string>()
    for (const name of ['one', 'two', 'off']) {
      const extJwt = { allowedSigners: [ids.get(name)] }
      const authPolicyId = await create(admin, '/auth-policies', authPolicy(`only ${name}`, {}, {}, extJwt))
      people.set(name, (await person(mounted, admin, `person ${name}`, { authPolicyId })).id)
    }
    for (let round = 0; round < 10; round += 1) {
      for (const issuer of ['one', 'two', 'off', 'ONE', 'one.'])
        for (const [who, sub] of people) {
          for (const aud of ['network', ['other', 'network'], 'networks', ['net', 'work']]) {
            const token = await idp.token(now(), { iss: `https://${issuer}.example`, sub, aud })
            const isGood = issuer === who && who !== 'off' && (aud === 'network' || aud[0] === 'other')
            expect(await ways.primary(token), `${issuer} ${who} ${aud}`).toBe(isGood ? 200 : 401)
          }
        }
    }
  })
})

describe('A14: a token is good from one second to another', () => {
  it.each([
    ['exp', -1, 200],
    ['exp', 0, 401],
    ['exp', 1, 401],
    // The clock of the issuer may be a minute ahead.
    ['nbf', -61, 401],
    ['nbf', -60, 200],
    ['nbf', 1, 200],
    ['iat', -61, 401],
    ['iat', -60, 200],
  ])('%s, seen %d s after it: %d', async (claim, later, status) => {
    const { mounted, idp, alice, now, ways } = await scene()
    const at = Math.floor(now() / 1000) + 100
    const token = await idp.token(now(), { sub: alice.id, iat: Math.floor(now() / 1000), [claim]: at })
    mounted.clock.advance((100 + later) * 1000)
    expect(await ways.primary(token)).toBe(status)
    expect(await ways.secondary(token)).toBe(status)
  })
})

describe('A15: a key set that', () => {
  it('never ends is given up after five seconds, and holds nobody else up', async () => {
    const { idp, alice, now, ways, mounted } = await scene()
    idp.state.answer = (_request, response) => void response.write('{"keys":[')
    const waiting = ways.primary(await idp.token(now(), { sub: alice.id }))
    expect((await login(mounted)).status).toBe(200)
    expect(await waiting).toBe(401)
    expect(idp.state.fetches).toBe(1)
  })
})

describe('A16: key ids that nobody knows', () => {
  it('cause one fetch, 1,000 of them at once', async () => {
    const { idp, alice, now, ways } = await scene()
    expect(await ways.primary(await idp.token(now(), { sub: alice.id }))).toBe(200)
    idp.state.fetches = 0
    const bad = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => idp.token(now() + 6_000, { sub: alice.id }, { kid: `bad-${n}` })),
    )
    const statuses = await Promise.all(bad.map((token) => ways.primary(token)))
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect(idp.state.fetches).toBeLessThanOrEqual(1)
  })
})

it('A13: a bearer token of a signer does not stand for a session', async () => {
  const { idp, alice, now, send } = await scene()
  const token = await idp.token(now(), { sub: alice.id })
  expectError(await send('GET', '/current-identity', token), 'UNAUTHORIZED')
})
