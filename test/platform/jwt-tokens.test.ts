import { X509Certificate } from 'node:crypto'
import { importX509, jwtVerify } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { createJwtTokens } from '../../src/platform/jwt-tokens.ts'
import { createPkiMaterial } from '../../src/platform/pki-material.ts'
import { createKeys, issue, type KeyKind, keyPemOf, now, pemOf } from './support/certificates.ts'
import { opensslOutput } from './support/openssl.ts'

const claims = { iss: 'https://localhost:1280', sub: 'abc', aud: [''], jti: 'a-token', em: 'ott', exp: 4_000_000_000 }

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
    const token = await (await createJwtTokens(server)).sign(claims)
    const key = await importX509(server.serverCertPem, alg)
    const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: [alg], currentDate: new Date(now) })
    const fingerprint = new X509Certificate(server.serverCertPem).fingerprint.replaceAll(':', '').toLowerCase()
    expect(payload).toEqual(claims)
    expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: fingerprint })
  })

  it('of created material verify with the key in its server certificate', async () => {
    const material = await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now })
    const token = await (await createJwtTokens(material)).sign(claims)
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
      await expect(createJwtTokens({ ...server, serverKeyPem: await serverKeyPem() })).rejects.toThrow(message)
    })

    it('for a certificate that is none', async () => {
      await expect(createJwtTokens({ ...server, serverCertPem: '' })).rejects.toThrow(/^serverCertPem: no certificate/)
    })
  })

  it.each([
    ['EC PRIVATE KEY', 'P-256', ['ec', '-in', 'key.pem']],
    ['RSA PRIVATE KEY', 'RSA-2048', ['rsa', '-in', 'key.pem', '-traditional']],
  ] as const)('are signed with a key in the older form %s too', async (label, kind, args) => {
    const server = await serverOf(kind)
    const serverKeyPem = opensslOutput(args, { 'key.pem': server.serverKeyPem })
    expect(serverKeyPem).toContain(`BEGIN ${label}`)
    await expect((await createJwtTokens({ ...server, serverKeyPem })).sign(claims)).resolves.toMatch(/^ey/)
  })
})
