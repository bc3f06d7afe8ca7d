import { Crypto } from '@peculiar/webcrypto'
import { createPkiMaterial } from 'portcullis'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createX509Pki } from '../../src/platform/x509/x509-pki.ts'
import { pkiContract } from '../contract/pki.ts'
import {
  createKeys,
  day,
  issue,
  issueAuthority,
  type KeyKind,
  keyPemOf,
  now,
  pemOf,
  purpose,
} from '../support/certificates/certificates.ts'
import { signerOf, webCryptoKeyOf } from '../support/certificates/held-keys.ts'

const implementations = [
  ['node:crypto where it is quick', {}],
  ['the WebCrypto of the runtime', { crypto: globalThis.crypto }],
  ['@peculiar/webcrypto', { crypto: new Crypto() }],
] as const

for (const [name, options] of implementations) {
  pkiContract(`created material, ${name}`, async () => {
    const material = await createPkiMaterial({
      hosts: ['localhost', '127.0.0.1'],
      trustDomain: 'example.org',
      now,
      ...options,
    })
    return createX509Pki(material, options)
  })
}

const notAfter = now + 3650 * day

const serverAuth = '1.3.6.1.5.5.7.3.1'

const foreignMaterial = async (kind: KeyKind) => {
  const root = await issueAuthority({ subject: 'CN=root', kind, notAfter })
  const middle = await issueAuthority({ subject: 'CN=middle', kind, issuer: root, notAfter })
  const signing = await issueAuthority({ subject: 'CN=signing', kind, issuer: middle, notAfter, pathLength: 0 })
  const keys = await createKeys()
  return {
    caPem: pemOf(root),
    signingCertPem: pemOf(signing, middle),
    signingKeyPem: await keyPemOf(signing.keys),
    serverCertPem: pemOf(
      await issue({ subject: 'CN=controller', keys, issuer: signing, extensions: [purpose(serverAuth)] }),
    ),
    serverKeyPem: await keyPemOf(keys),
  }
}

for (const kind of ['P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const) {
  pkiContract(`authorities of an operator, ${kind}`, async () => createX509Pki(await foreignMaterial(kind)))
}

for (const kind of ['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const) {
  pkiContract(`a ${kind} key in WebCrypto that cannot be taken out`, async () => {
    const { signingKeyPem, ...rest } = await foreignMaterial(kind)
    return createX509Pki({ ...rest, signingKey: await webCryptoKeyOf(signingKeyPem, kind) })
  })
  pkiContract(`a ${kind} key in a key management service`, async () => {
    const { signingKeyPem, ...rest } = await foreignMaterial(kind)
    return createX509Pki({ ...rest, signingKey: signerOf(signingKeyPem) })
  })
}

for (const kind of ['P-256', 'P-384', 'P-521'] as const) {
  pkiContract(`a ${kind} key in a hardware module`, async () => {
    const { signingKeyPem, ...rest } = await foreignMaterial(kind)
    return createX509Pki({ ...rest, signingKey: signerOf(signingKeyPem, 'ieee-p1363') })
  })
}

pkiContract('a root that signs clients itself', async () => {
  const root = await issueAuthority({ subject: 'CN=root', notAfter })
  const material = await foreignMaterial('P-256')
  return createX509Pki({
    ...material,
    caPem: pemOf(root),
    signingCertPem: pemOf(root),
    signingKeyPem: await keyPemOf(root.keys),
  })
})
