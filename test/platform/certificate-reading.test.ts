import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { toHex } from '../../src/base/bytes.ts'
import { loadLibrary } from '../../src/platform/x509/asn1-structures.ts'
import { certificateFacts, readCertificate, readCertificates } from '../../src/platform/x509/certificate.ts'
import { issue, issueAuthority } from '../support/certificates/certificates.ts'

const library = await loadLibrary()

/** Certificates that say much: names of every kind, all extensions that are read, an authority and a leaf. */
async function certificates(): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const authority = await issueAuthority({ subject: 'C=DE, O=Example + OU=Unit, CN=authority' })
  const names = [
    { type: 'dns', value: 'a.example.org' },
    { type: 'email', value: 'a@example.org' },
    { type: 'url', value: 'spiffe://example.org/a' },
    { type: 'ip', value: '10.1.2.3' },
    { type: 'ip', value: '2001:db8::1' },
  ] as const
  const leaf = await issue({
    subject: 'CN=Zażółć 🔑, E=a@example.org, DC=org',
    issuer: authority,
    extensions: [
      new x509.SubjectAlternativeNameExtension([...names]),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  })
  const rsa = await issue({ subject: 'CN=rsa', issuer: authority, kind: 'RSA-2048' })
  return [authority, leaf, rsa].map(({ certificate }) => new Uint8Array(certificate.rawData))
}

/** Names as the runtime prints them. */
const printed = (der: Uint8Array): readonly string[] => {
  const names = new X509Certificate(der).subjectAltName ?? ''
  return names.split(', ').flatMap((name) => /^(?:DNS|email|URI|IP Address):(.*)$/.exec(name)?.[1] ?? [])
}

it('what is read of a certificate is what the runtime and the X.509 library read of it', async () => {
  for (const der of await certificates()) {
    const ours = readCertificate(library, der)
    const theirs = new X509Certificate(der)
    const parsed = new x509.X509Certificate(der)
    const facts = await certificateFacts(library, ours)
    expect(facts).toMatchObject({
      fingerprint: theirs.fingerprint.replaceAll(':', '').toLowerCase(),
      isAuthority: theirs.ca,
      subject: parsed.subject,
      publicKey: toHex(theirs.publicKey.export({ type: 'spki', format: 'der' })),
      notBefore: parsed.notBefore.getTime(),
      notAfter: parsed.notAfter.getTime(),
    })
    const inWords = printed(der).map((name) => name.toLowerCase().replace('2001:db8:0:0:0:0:0:1', '2001:db8::1'))
    expect([...facts.hosts, ...facts.emails, ...facts.uris].toSorted()).toEqual(inWords.toSorted())
  }
})

it('certificates of the host are read once, which controllers and their forks share; with cryptography of its own nobody does', async () => {
  const pem = (await issueAuthority({ subject: 'CN=once' })).certificate.toString('pem')
  const [read] = readCertificates(library, pem)
  expect(readCertificates(await loadLibrary(), pem)[0]).toBe(read)
  const own = await loadLibrary(globalThis.crypto)
  expect(readCertificates(own, pem)[0]).not.toBe(read)
  expect(readCertificates(own, pem)[0].der).toEqual(read.der)
})
