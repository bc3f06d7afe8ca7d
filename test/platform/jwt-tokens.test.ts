import { X509Certificate } from 'node:crypto'
import { importX509, jwtVerify } from 'jose'
import { createPkiMaterial, type ServerCertificateSource } from 'portcullis'
import { beforeAll, describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createJwtTokens } from '../../src/platform/jwt-tokens.ts'

import { ServerCredentials } from '../../src/platform/server-credentials.ts'
import { createKeys, issue, type KeyKind, keyPemOf, now, pemOf } from '../support/certificates/certificates.ts'
import { signerOf, webCryptoKeyOf } from '../support/certificates/held-keys.ts'
import { opensslOutput } from '../support/certificates/openssl.ts'

const claims = { iss: 'https://localhost:1280', sub: 'abc', aud: [''], jti: 'a-token', em: 'ott', exp: 4_000_000_000 }

const tokensOf = async (source: ServerCertificateSource) => createJwtTokens(await ServerCredentials.open(source))

const serverOf = async (kind: KeyKind) => {
  const keys = await createKeys(kind)
  return { serverCertPem: pemOf(await issue({ subject: 'CN=controller', keys })), serverKeyPem: await keyPemOf(keys) }
}

describe('tokens', () => {
  it.each([
    ['P-256', 'ES256'],
    ['P-384', 'ES384'],
    ['P-521', 'ES512'],
    ['RSA-2048', 'RS256'],
    ['Ed25519', 'EdDSA'],
  ] as const)('of a %s server key are signed by %s and verify with the server certificate', async (kind, alg) => {
    const server = await serverOf(kind)
    const token = await (await tokensOf(server)).sign(claims)
    const key = await importX509(server.serverCertPem, alg)
    const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: [alg], currentDate: new Date(now) })
    const fingerprint = new X509Certificate(server.serverCertPem).fingerprint.replaceAll(':', '').toLowerCase()
    expect(payload).toEqual(claims)
    expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: fingerprint })
  })

  it('of created material verify with the key in its server certificate', async () => {
    const material = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now })
    const token = await (await tokensOf(material)).sign(claims)
    const { publicKey } = new X509Certificate(material.serverCertPem)
    await expect(jwtVerify(token, publicKey, { algorithms: ['ES256'] })).resolves.toMatchObject({ payload: claims })
    const changed = token.replace(/\.[^.]+\./, `.${btoa('{"sub":"other"}').replace(/=+$/, '')}.`)
    await expect(jwtVerify(changed, publicKey, { algorithms: ['ES256'] })).rejects.toThrow(/signature/)
  })

  describe('are refused at creation', () => {
    let server: Awaited<ReturnType<typeof serverOf>>
    beforeAll(async () => {
      server = await serverOf('P-256')
    })

    it.each([
      ['a key of another certificate', async () => keyPemOf(await createKeys()), /^serverKeyPem: .*match/],
      ['a key of another kind', async () => keyPemOf(await createKeys('P-384')), /^serverKeyPem: .*match/],
      ['no PEM', () => 'hello', /^serverKeyPem: no private key found$/],
      ['a key that is cut off', async () => (await keyPemOf(await createKeys())).slice(0, 60), /^serverKeyPem: /],
    ])('for %s', async (_, serverKeyPem, message) => {
      await expect(tokensOf({ ...server, serverKeyPem: await serverKeyPem() })).rejects.toThrow(message)
    })

    it('for a certificate that is none', async () => {
      await expect(tokensOf({ ...server, serverCertPem: '' })).rejects.toThrow(/^serverCertPem: no certificate/)
    })
  })

  it.each(['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const)(
    'of a %s key that is held elsewhere verify with the server certificate',
    async (kind) => {
      const { serverCertPem, serverKeyPem } = await serverOf(kind)
      const held = [
        await webCryptoKeyOf(serverKeyPem, kind),
        signerOf(serverKeyPem),
        signerOf(serverKeyPem, 'ieee-p1363'),
      ]
      for (const serverKey of held) {
        const tokens = await tokensOf({ serverCertPem, serverKey })
        const { publicKey } = new X509Certificate(serverCertPem)
        await expect(jwtVerify(await tokens.sign(claims), publicKey)).resolves.toMatchObject({ payload: claims })
        const { alg = '' } = await tokens.publicKey()
        expect((await tokens.signNonce('nonce')).algorithm).toBe(alg)
      }
    },
  )

  it.each([
    ['a signer with another key', async () => signerOf((await serverOf('P-256')).serverKeyPem), /match/],
    ['a signer that answers nothing', () => ({ sign: async () => new Uint8Array() }), /^serverKey: /],
    ['a signer that is away', () => ({ sign: () => Promise.reject(new Error('is away')) }), /^serverKey: is away$/],
  ])('are refused at creation for %s', async (_, serverKey, message) => {
    const { serverCertPem } = await serverOf('P-256')
    await expect(tokensOf({ serverCertPem, serverKey: await serverKey() })).rejects.toThrow(message)
  })

  it.each([
    ['EC PRIVATE KEY', 'P-256', ['ec', '-in', 'key.pem']],
    ['RSA PRIVATE KEY', 'RSA-2048', ['rsa', '-in', 'key.pem', '-traditional']],
  ] as const)('are signed with a key in the older form %s too', async (label, kind, args) => {
    const server = await serverOf(kind)
    const serverKeyPem = opensslOutput(args, { 'key.pem': server.serverKeyPem })
    expect(serverKeyPem).toContain(`BEGIN ${label}`)
    await expect((await tokensOf({ ...server, serverKeyPem })).sign(claims)).resolves.toMatch(/^ey/)
  })
})

/** Claims of a token that is good for a minute. */
const ownClaims = { jti: 'a-token', exp: Math.floor(now / 1000) + 60 }

describe('the controller verifies its own tokens', () => {
  it.each(['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const)('signed with a %s key', async (kind) => {
    const tokens = await tokensOf(await serverOf(kind))
    expect(await tokens.verify(await tokens.sign(ownClaims), now)).toEqual(ownClaims)
  })

  it('whose certificate comes with its intermediates', async () => {
    const tokens = await tokensOf(await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now }))
    const token = await tokens.sign(ownClaims)
    expect(await tokens.verify(token, now)).toEqual(ownClaims)
    expect(await tokens.verify(token, now + 61_000)).toBeUndefined()
  })

  it('and nothing else', async () => {
    const tokens = await tokensOf(await serverOf('P-256'))
    const foreign = await (await tokensOf(await serverOf('P-256'))).sign(ownClaims)
    const [head = '', , signature = ''] = (await tokens.sign(ownClaims)).split('.')
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const changed = [head, encoded({ ...ownClaims, jti: 'other' }), signature].join('.')
    const unsigned = `${encoded({ alg: 'none' })}.${encoded(ownClaims)}.`
    for (const token of ['', 'x', '..', foreign, changed, unsigned]) {
      expect(await tokens.verify(token, now)).toBeUndefined()
    }
  })
})
