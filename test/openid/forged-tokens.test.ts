import { createHmac, createPrivateKey, X509Certificate } from 'node:crypto'
import { decodeJwt, exportSPKI, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { createPkiMaterial } from 'portcullis'
import { describe, expect, it } from 'vitest'
import type { MountedController } from '../contract/http/mount.ts'
import { mount } from '../support/mount.ts'
import { bearing, exchange, openIdTokens, refresh } from '../support/openid.ts'

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Every place at which a token of this provider is presented; each answers the status. */
function doors(mounted: MountedController) {
  return {
    REST: async (token: string) => (await bearing(mounted, token)).status,
    'user info': async (token: string) => (await bearing(mounted, token, '/oidc/userinfo')).status,
    refreshing: async (token: string) => (await refresh(mounted, token)).status,
    exchanging: async (token: string) => (await exchange(mounted, token, 'access_token', 'access_token')).status,
    'logging out': async (token: string) =>
      (await mounted.fetch(`/oidc/end_session?id_token_hint=${encodeURIComponent(token)}`)).status,
  }
}

/** A key to forge with, and what is public of the right one. */
async function scene(serverKeyPem?: string) {
  const pki = await createPkiMaterial({
    hosts: ['controller.test'],
    trustDomain: 'forged.test',
    now: Date.UTC(2026, 0),
  })
  const mounted = await mount({ pki })
  const { access_token, refresh_token } = await openIdTokens(mounted)
  const { keys } = (await (await mounted.fetch('/oidc/keys')).json()) as { readonly keys: readonly JWK[] }
  const [jwk = {}] = keys
  const key = createPrivateKey(serverKeyPem ?? pki.serverKeyPem)
  return { mounted, access_token, refresh_token, jwk, kid: String(jwk.kid), key }
}

function hmac(header: object, claims: object, secret: string | Buffer): string {
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

describe('the algorithm is fixed by the key, and the key by the controller', () => {
  it('no forged token is let in anywhere', async () => {
    const { mounted, access_token, jwk, kid } = await scene()
    const claims = decodeJwt(access_token)
    const right = await importJWK(jwk, 'ES256')
    if (right instanceof Uint8Array) throw new Error('not a public key')
    const spki = await exportSPKI(right)
    const forger = await generateKeyPair('ES256', { extractable: true })
    const rsa = await generateKeyPair('RS256')
    const by = (header: object, key = forger.privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid, ...header }).sign(key)
    const [head = '', body = '', signature = ''] = access_token.split('.')
    const forged: Readonly<Record<string, string>> = {
      'alg none': `${encoded({ alg: 'none', kid })}.${body}.`,
      'alg None with a signature': `${encoded({ alg: 'None', kid })}.${body}.${signature}`,
      'no alg': `${encoded({ kid })}.${body}.${signature}`,
      'HS256 with the public key in PEM': hmac({ alg: 'HS256', kid }, claims, spki),
      'HS256 with the public key as JWK': hmac({ alg: 'HS256', kid }, claims, JSON.stringify(jwk)),
      'HS256 with the key id': hmac({ alg: 'HS256', kid }, claims, kid),
      'HS256 with nothing': hmac({ alg: 'HS256', kid }, claims, ''),
      'a key of the forger': await by({}),
      'RS256 by a key of the forger': await by({ alg: 'RS256' }, rsa.privateKey),
      'the key in the header': await by({ jwk: jwk, kid: 'mine' }),
      'an address of keys in the header': await by({ jku: 'https://evil.example/keys', kid: 'mine' }),
      'another key id': `${encoded({ alg: 'ES256', kid: 'mine' })}.${body}.${signature}`,
      'a key id of the prototype': await by({ kid: '__proto__' }),
      'no key id': `${encoded({ alg: 'ES256' })}.${body}.${signature}`,
      'a signature of zeroes': `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
      'an empty signature': `${head}.${body}.`,
      'other claims under the signature': `${head}.${encoded({ ...claims, z_ia: true, sub: 'other' })}.${signature}`,
      'a critical extension': `${encoded({ alg: 'ES256', kid, crit: ['x'], x: 1 })}.${body}.${signature}`,
      'the algorithm of another curve': `${encoded({ alg: 'ES384', kid })}.${body}.${signature}`,
    }
    for (const [door, present] of Object.entries(doors(mounted))) {
      for (const [what, token] of Object.entries(forged)) {
        expect([400, 401], `${what} at ${door}`).toContain(await present(token))
      }
    }
    expect((await bearing(mounted, access_token)).status).toBe(200)
  })

  it('nor one that the right key signed for something else', async () => {
    const { mounted, access_token, refresh_token, kid, key } = await scene()
    const claims = decodeJwt(access_token)
    const sign = (change: object) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid }).sign(key)
    const now = Math.floor(mounted.clock.now() / 1000)
    const { z_t: _type, ...untyped } = claims
    const bad: readonly string[] = [
      await sign({ iss: 'https://other.test/oidc' }),
      await sign({ iss: 'https://controller.test:1280' }),
      await sign({ z_t: 's' }),
      await sign({ z_t: 't' }),
      await sign({ exp: now - 1 }),
      await sign({ nbf: now + 61 }),
      await sign({ z_asid: '00000000-0000-4000-8000-000000000000' }),
      await sign({ sub: 'somebody-else' }),
      await new SignJWT(untyped).setProtectedHeader({ alg: 'ES256', kid }).sign(key),
      refresh_token,
    ]
    for (const token of bad) expect((await bearing(mounted, token)).status).toBe(401)
    expect((await bearing(mounted, await sign({}))).status).toBe(200)
  })
})

it('access tokens that are remembered as verified are refused from the request after what ends them', async () => {
  const mounted = await mount()
  const warm = async () => {
    const tokens = await openIdTokens(mounted)
    for (let count = 0; count < 3; count += 1) expect((await bearing(mounted, tokens.access_token)).status).toBe(200)
    return tokens
  }
  const admin = await warm()
  const revoke = (id: unknown, type: string) =>
    bearing(mounted, admin.access_token, '/edge/management/v1/revocations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, type }),
    })
  for (const [type, claim] of [
    ['JTI', 'jti'],
    ['API_SESSION', 'z_asid'],
  ] as const) {
    const { access_token } = await warm()
    expect((await revoke(decodeJwt(access_token)[claim], type)).status).toBe(201)
    expect((await bearing(mounted, access_token)).status).toBe(401)
  }
  expect((await revoke(decodeJwt(admin.access_token).sub, 'IDENTITY')).status).toBe(201)
  expect((await bearing(mounted, admin.access_token)).status).toBe(401)
})

it('kid names the certificate, not the key: the fingerprint of what the server presents', async () => {
  const { mounted, kid } = await scene()
  const { fingerprint } = new X509Certificate(mounted.controller.tls().cert)
  expect(kid).toBe(fingerprint.replaceAll(':', '').toLowerCase())
})
