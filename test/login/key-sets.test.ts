import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto'
import type { TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { expectDone } from '../contract/http/errors.ts'
import { adminOf, CLIENT, create, foreignClient } from '../contract/http/foreign-client.ts'
import { newKey, newRsaKey, selfSigned } from '../contract/http/signing-request.ts'
import { identityProvider } from '../support/jwks-server.ts'
import { mount } from '../support/mount.ts'
import { person } from '../support/people.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 1440 * MINUTE

/** A controller that trusts an identity provider, by its key set or by a pinned certificate. */
async function scene(options: TestControllerOptions = {}, certPem?: string) {
  const mounted = await mount({ allowPrivateJwks: true, ...options })
  // Certificates of the openssl command begin to be valid now.
  mounted.clock.set(Date.now() + MINUTE)
  const admin = await adminOf(mounted)
  const idp = await identityProvider()
  const source = certPem === undefined ? { jwksEndpoint: idp.endpoint } : { certPem, kid: 'pinned' }
  const signer = { name: 'idp', issuer: idp.issuer, audience: 'network', enabled: true, ...source }
  const signerId = await create(admin, '/external-jwt-signers', signer)
  const { id: sub } = await person(mounted, admin, 'alice')
  const anybody = foreignClient(mounted, CLIENT)
  const present = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await anybody.send('POST', '/authenticate?method=ext-jwt', { headers })).status
  }
  /** Logs in with a token of the provider, or with one that `key` signed under its id. */
  const logIn = async (key?: KeyObject, header: object = {}) => {
    if (key === undefined) return present(await idp.token(mounted.clock.now(), { sub }))
    const seconds = Math.floor(mounted.clock.now() / 1000)
    const claims = { iss: idp.issuer, aud: 'network', sub, iat: seconds, exp: seconds + 300 }
    const alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256'
    return present(signed(key, { alg, kid: idp.state.kid, ...header }, claims))
  }
  return { ...mounted, admin, signerId, idp, logIn }
}

/** A token that any key has signed, also one that libraries refuse to sign with. */
function signed(key: KeyObject, header: object, claims: object): string {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encoded(header)}.${encoded(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const broken = (_request: unknown, response: { writeHead(status: number): { end(): unknown } }) =>
  void response.writeHead(500).end()

describe('a key that was withdrawn', () => {
  it('is good for five minutes', async () => {
    const { clock, idp, logIn } = await scene()
    expect(await logIn()).toBe(200)
    idp.keys.length = 0
    clock.advance(5 * MINUTE - 1)
    expect(await logIn()).toBe(200)
    clock.advance(1)
    expect(await logIn()).toBe(401)
    expect(idp.state.fetches).toBe(2)
  })

  it('is good for an hour while the key set cannot be fetched, which is tried every 30 seconds', async () => {
    const { clock, idp, logIn } = await scene()
    expect(await logIn()).toBe(200)
    idp.state.answer = broken
    clock.advance(50 * MINUTE)
    for (let second = 0; second < 60; second += 1) {
      clock.advance(SECOND)
      expect(await logIn()).toBe(200)
    }
    expect(idp.state.fetches).toBe(3)
    clock.advance(9 * MINUTE - 1)
    expect(await logIn()).toBe(200)
    clock.advance(1)
    expect(await logIn()).toBe(401)
    idp.state.answer = undefined
    clock.advance(30 * SECOND)
    expect(await logIn()).toBe(200)
  })

  it('is not good again when the clock is put back', async () => {
    const { clock, idp, logIn } = await scene()
    expect(await logIn()).toBe(200)
    idp.keys.length = 0
    clock.advance(-DAY)
    expect(await logIn()).toBe(401)
  })

  it('by way of another address of the signer is good no more', async () => {
    const { admin, signerId, idp, logIn } = await scene()
    const moved = await identityProvider()
    expect(await logIn()).toBe(200)
    expectDone(await admin.patch(`/external-jwt-signers/${signerId}`, { jwksEndpoint: moved.endpoint }))
    expect(await logIn()).toBe(401)
    moved.state.answer = broken
    expectDone(await admin.patch(`/external-jwt-signers/${signerId}`, { jwksEndpoint: idp.endpoint }))
    expect(await logIn()).toBe(200)
  })
})

describe('a key that was replaced under its id', () => {
  it.each([
    ['of the same kind', 'ES256'],
    ['of another kind', 'RS256'],
  ])('by one %s is fetched for the first token that it signed, a second after the last fetch', async (_kind, alg) => {
    const { clock, idp, logIn } = await scene()
    expect(await logIn()).toBe(200)
    idp.keys.length = 0
    await idp.rotate('key-1', alg)
    clock.advance(SECOND - 1)
    expect(await logIn()).toBe(401)
    clock.advance(1)
    expect(await Promise.all([logIn(), logIn(), logIn()])).toEqual([200, 200, 200])
    expect(idp.state.fetches).toBe(2)
  })

  it('costs one fetch a second, however many signatures do not fit, and the good ones go on', async () => {
    const { clock, idp, logIn } = await scene()
    expect(await logIn()).toBe(200)
    const forger = createPrivateKey(newKey())
    for (let second = 0; second < 5; second += 1) {
      const statuses = await Promise.all(Array.from({ length: 20 }, () => logIn(forger)))
      expect(new Set(statuses)).toEqual(new Set([401]))
      expect(await logIn()).toBe(200)
      clock.advance(SECOND)
    }
    expect(idp.state.fetches).toBeLessThanOrEqual(6)
  })

  it('does not cost the keys when it cannot be fetched for a bad signature', async () => {
    const { clock, idp, logIn } = await scene()
    expect(await logIn()).toBe(200)
    idp.state.answer = broken
    clock.advance(SECOND)
    expect(await logIn(createPrivateKey(newKey()))).toBe(401)
    expect(await logIn()).toBe(200)
  })
})

const rsa = createPrivateKey(newRsaKey(2048))
const weak = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).privateKey
const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
const ec = createPrivateKey(newKey())
const jwkOf = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' })
const certificateOf = (key: KeyObject) =>
  selfSigned(key.export({ type: 'pkcs8', format: 'pem' }).toString(), '/CN=signer')
const x5cOf = (key: KeyObject) => [new X509Certificate(certificateOf(key)).raw.toString('base64')]

describe('a key of a key set', () => {
  it.each<[string, KeyObject, object, number]>([
    ['that says nothing of its use', rsa, jwkOf(rsa), 200],
    ['for signatures', rsa, { ...jwkOf(rsa), use: 'sig', key_ops: ['verify'] }, 200],
    ['with a certificate besides', ec, { ...jwkOf(ec), x5c: x5cOf(ec) }, 200],
    ['with the certificate of another key besides', ec, { ...jwkOf(ec), x5c: x5cOf(rsa) }, 200],
    ['of a certificate', ec, { kty: 'EC', x5c: x5cOf(ec) }, 200],
    ['for encryption', rsa, { ...jwkOf(rsa), use: 'enc' }, 401],
    ['for encryption, by its operations', rsa, { ...jwkOf(rsa), key_ops: ['encrypt'] }, 401],
    ['for nothing known', rsa, { ...jwkOf(rsa), use: ['sig'] }, 401],
    ['with the RSA exponent 3', weak, jwkOf(weak), 401],
    ['of a certificate with the RSA exponent 3', weak, { kty: 'RSA', x5c: x5cOf(weak) }, 401],
    ['of 1024 bits', short, jwkOf(short), 401],
    ['of a certificate of 1024 bits', short, { kty: 'RSA', x5c: x5cOf(short) }, 401],
    ['of a certificate of another kind', ec, { kty: 'EC', x5c: x5cOf(rsa) }, 401],
    ['of no certificate', ec, { kty: 'EC', x5c: ['AAAA'] }, 401],
    ['of a certificate, untyped', ec, { x5c: x5cOf(ec) }, 401],
  ])('%s', async (_what, key, jwk, status) => {
    const { idp, logIn } = await scene()
    idp.keys.splice(0, 1, { ...jwk, kid: 'key-1' })
    expect(await logIn(key)).toBe(status)
  })

  it.each<[string, KeyObject, object, number]>([
    ['an RSA certificate', rsa, { x5c: x5cOf(rsa) }, 200],
    ['an EC certificate', ec, { x5c: x5cOf(ec) }, 200],
    ['a certificate of another kind', rsa, { x5c: x5cOf(ec) }, 401],
    ['a weak certificate', weak, { x5c: x5cOf(weak) }, 401],
    ['no certificate', rsa, { n: jwkOf(rsa).n, e: jwkOf(rsa).e }, 401],
  ])("untyped, with %s, under compat: 'openziti'", async (_what, key, jwk, status) => {
    const { idp, logIn } = await scene({ compat: 'openziti' })
    idp.keys.splice(0, 1, { ...jwk, kid: 'key-1' })
    expect(await logIn(key)).toBe(status)
  })

  it('for signatures is found where one for encryption has the same id', async () => {
    const { idp, logIn } = await scene()
    const both = [
      { ...jwkOf(ec), kid: 'key-1' },
      { ...jwkOf(rsa), kid: 'key-1', use: 'enc' },
    ]
    idp.keys.splice(0, 1, ...both)
    expect(await logIn(ec)).toBe(200)
  })

  it('is good until the certificate that it consists of expires', async () => {
    const { clock, idp, logIn } = await scene()
    idp.keys.splice(0, 1, { kty: 'EC', x5c: x5cOf(ec), kid: 'key-1' })
    expect(await logIn(ec)).toBe(200)
    clock.advance(2 * DAY)
    expect(await logIn(ec)).toBe(401)
  })
})

it('the key of a pinned certificate is good until that expires', async () => {
  const { clock, logIn } = await scene({}, certificateOf(ec))
  const pinned = () => logIn(ec, { kid: 'pinned' })
  expect(await pinned()).toBe(200)
  clock.advance(DAY)
  expect(await pinned()).toBe(401)
})
