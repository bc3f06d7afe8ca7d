import { createPkiMaterial, type ServerCertificateSource } from 'portcullis'
import { describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createJwtTokens } from '../../src/platform/jwt-tokens.ts'

import { ServerCredentials } from '../../src/platform/server-credentials.ts'
import { createKeys, issue, type KeyKind, keyPemOf, now, pemOf } from '../support/certificates/certificates.ts'

const seconds = Math.floor(now / 1000)
const claims = { jti: 'a-token', exp: seconds + 60 }

const tokensOf = async (source: ServerCertificateSource) => createJwtTokens(await ServerCredentials.open(source))

const serverOf = async (kind: KeyKind) => {
  const keys = await createKeys(kind)
  return { serverCertPem: pemOf(await issue({ subject: 'CN=controller', keys })), serverKeyPem: await keyPemOf(keys) }
}

describe('the controller verifies its own tokens', () => {
  it.each(['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const)('signed with a %s key', async (kind) => {
    const tokens = await tokensOf(await serverOf(kind))
    expect(await tokens.verify(await tokens.sign(claims), now)).toEqual(claims)
  })

  it('whose certificate comes with its intermediates', async () => {
    const tokens = await tokensOf(await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now }))
    const token = await tokens.sign(claims)
    expect(await tokens.verify(token, now)).toEqual(claims)
    expect(await tokens.verify(token, now + 61_000)).toBeUndefined()
  })

  it('and nothing else', async () => {
    const tokens = await tokensOf(await serverOf('P-256'))
    const foreign = await (await tokensOf(await serverOf('P-256'))).sign(claims)
    const [head = '', , signature = ''] = (await tokens.sign(claims)).split('.')
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const changed = [head, encoded({ ...claims, jti: 'other' }), signature].join('.')
    const unsigned = `${encoded({ alg: 'none' })}.${encoded(claims)}.`
    for (const token of ['', 'x', '..', foreign, changed, unsigned]) {
      expect(await tokens.verify(token, now)).toBeUndefined()
    }
  })
})
