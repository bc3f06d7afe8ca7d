import { X509Certificate } from 'node:crypto'
import { Crypto } from '@peculiar/webcrypto'
import { createPkiMaterial } from 'portcullis'
import { beforeAll, describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { createX509Pki } from '../../src/platform/x509/x509-pki.ts'
import type { IssuedCertificate, Pki } from '../../src/ports/pki.ts'
import {
  clientExtensions,
  createCsrPem,
  createKeys,
  day,
  derOf,
  issue,
  issueAuthority,
  issueClient,
  type KeyKind,
  keyPemOf,
  now,
  pemOf,
  purpose,
} from '../support/certificates/certificates.ts'
import { signerOf, webCryptoKeyOf } from '../support/certificates/held-keys.ts'
import { opensslOutput } from '../support/certificates/openssl.ts'

const spiffeId = 'spiffe://example.org/identity/abc'

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((one) => new X509Certificate(one))

const chainOf = (pem: string): Uint8Array[] => certificatesIn(pem).map(({ raw }) => new Uint8Array(raw))

const fingerprint = (certificate: X509Certificate): string => certificate.fingerprint.replaceAll(':', '').toLowerCase()

const mustBeIssued = (certificate: IssuedCertificate) => {
  if (!certificate.issued) throw new Error(`the request was refused: ${certificate.problem}`)
  return certificate
}

/** The duties of every `Pki` on which the engine relies. `makePki` answers an authority that is valid at `now` of the support file. */
const pkiContract = (name: string, makePki: () => Promise<Pki>): void => {
  describe(`PKI contract: ${name}`, () => {
    let pki: Pki
    beforeAll(async () => {
      pki = await makePki()
    })
    const enroll = async (subject = 'CN=device') =>
      mustBeIssued(await pki.issueClientCertificate({ csrPem: await createCsrPem({ subject }), spiffeId, now }))

    it('names its trust domain', () => {
      expect(pki.trustDomain).toMatch(/^[a-z0-9._-]+$/)
    })

    it('publishes its trust bundle as PEM and, with the same certificates, as PKCS#7', async () => {
      const bundle = certificatesIn(pki.caBundlePem)
      expect(bundle.length).toBeGreaterThan(0)
      expect(bundle.every(({ ca }) => ca)).toBe(true)
      const store = opensslOutput(['pkcs7', '-inform', 'DER', '-in', 'store.p7', '-print_certs'], {
        'store.p7': await pki.caBundlePkcs7(),
      })
      const stored = certificatesIn(store)
      expect(stored.map(fingerprint).sort()).toEqual(bundle.map(fingerprint).sort())
      // DER wants the members of a set in the order of their bytes.
      const inOrder = [...stored].sort((one, other) => Buffer.compare(one.raw, other.raw))
      expect(stored.map(fingerprint)).toEqual(inOrder.map(fingerprint))
    })

    it('writes the certificates right behind the content type, where clients on mbedTLS look for them', async () => {
      const structure = opensslOutput(['asn1parse', '-inform', 'DER', '-in', 'store.p7'], {
        'store.p7': await pki.caBundlePkcs7(),
      })
      expect(structure).toMatch(/:pkcs7-data\n +\d+:d=3 +hl=\d l= *\d+ cons: cont \[ 0 \] *\n +\d+:d=4 .*SEQUENCE/)
    })

    it('describes its server certificate', async () => {
      const facts = await pki.serverCertificate()
      const [server] = certificatesIn(facts.pem)
      expect(server && fingerprint(server)).toBe(facts.fingerprint)
      expect(facts.notBefore).toBeLessThanOrEqual(now)
      expect(facts.notAfter).toBeGreaterThan(now)
    })

    it('issues a certificate with the subject and key of the request, valid for a year from a minute ago', async () => {
      const { leaf, chainPem } = await enroll('CN=device 7, O=Example')
      const [certificate, ...intermediates] = certificatesIn(chainPem)
      expect(certificate?.subject).toBe('CN=device 7\nO=Example')
      const read = await pki.readCertificates(leaf.pem)
      expect(read).toEqual([leaf])
      expect(leaf).toEqual({
        fingerprint: certificate && fingerprint(certificate),
        pem: chainPem.slice(0, leaf.pem.length),
        der: certificate && new Uint8Array(certificate.raw),
        commonName: 'device 7',
        subject: 'CN=device 7, O=Example',
        uris: [spiffeId],
        emails: [],
        hosts: [],
        publicKey: certificate?.publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
        isAuthority: false,
        authorityKeyId: pki.issuerKeyId,
        notBefore: now - 60_000,
        notAfter: Date.UTC(2027, 0, 15, 12),
      })
      expect(intermediates.every(({ issuer, subject }) => issuer !== subject)).toBe(true)
    })

    it('gives every certificate its own serial number', async () => {
      const [first, second] = [await enroll(), await enroll()]
      expect(first.leaf.fingerprint).not.toBe(second.leaf.fingerprint)
      const serial = certificatesIn(first.leaf.pem)[0]?.serialNumber ?? ''
      expect(serial).not.toBe(certificatesIn(second.leaf.pem)[0]?.serialNumber)
      expect(serial.length).toBeGreaterThan(30)
    })

    it.each([
      ['missing', '', 'missing'],
      ['blank', ' \n', 'missing'],
      ['no request at all', 'hello', 'unparsable'],
    ])('refuses a request that is %s', async (_, csrPem, problem) => {
      expect(await pki.issueClientCertificate({ csrPem, spiffeId, now })).toEqual({ issued: false, problem })
    })

    it('trusts what it issued', async () => {
      const { leaf, chainPem } = await enroll()
      expect(await pki.verifyClientChain(chainOf(chainPem), now)).toEqual({ trusted: true, improper: false, leaf })
    })

    it('says when the client did not send the intermediates itself', async () => {
      const { leaf, chainPem } = await enroll()
      const [alone] = chainOf(chainPem)
      const improper = chainOf(chainPem).length > 1
      expect(await pki.verifyClientChain(alone ? [alone] : [], now)).toEqual({ trusted: true, improper, leaf })
    })

    it('does not judge the validity of the leaf, but that of the authorities', async () => {
      const { chainPem } = await enroll()
      expect(await pki.verifyClientChain(chainOf(chainPem), now + 500 * day)).toMatchObject({ trusted: true })
      expect(await pki.verifyClientChain(chainOf(chainPem), now + 30 * 366 * day)).toEqual({ trusted: false })
    })

    it.each([
      ['nothing', async () => []],
      ['no certificate', async () => [Uint8Array.of(1, 2, 3)]],
      ['its own trust bundle', async () => chainOf(pki.caBundlePem)],
      ['its own server certificate', async () => chainOf((await pki.serverCertificate()).pem)],
      ['a self-signed certificate', async () => [derOf(await issueClient())]],
      [
        'a certificate of another authority, followed by a trusted chain',
        async () => {
          const issuer = await issueAuthority()
          const stranger = await issueClient({ issuer, extensions: clientExtensions() })
          return [derOf(stranger), ...chainOf((await enroll()).chainPem)]
        },
      ],
    ])('does not trust %s', async (_, chain) => {
      expect(await pki.verifyClientChain(await chain(), now)).toEqual({ trusted: false })
    })

    it('says which certificates a third party signed, whatever they are for', async () => {
      const issuer = await issueAuthority()
      const authority = { id: 'third-party', certPem: pemOf(issuer) }
      const isIssued = (der: Uint8Array, at = now) => pki.isIssuedByThirdParty(der, authority, at)
      const forServers = await issueClient({ issuer, extensions: [purpose('1.3.6.1.5.5.7.3.1')] })
      expect(await isIssued(derOf(forServers))).toBe(true)
      expect(await isIssued(derOf(forServers), now + 30 * day)).toBe(false)
      expect(await isIssued(derOf(await issueClient({ issuer: await issueAuthority() })))).toBe(false)
      expect(await isIssued(derOf(issuer))).toBe(false)
      expect(await isIssued(Uint8Array.of(1, 2, 3))).toBe(false)
    })
  })
}

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
