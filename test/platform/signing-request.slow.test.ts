import { X509Certificate } from 'node:crypto'
import * as fc from 'fast-check'
import { createPkiMaterial } from 'portcullis'
import { beforeAll, describe, expect, it } from 'vitest'
// Internals: the implementation of a port, which controllers reach with few of these inputs.
import { writePem } from '../../src/platform/x509/pem.ts'
import { createX509Pki } from '../../src/platform/x509/x509-pki.ts'
import type { Pki } from '../../src/ports/pki.ts'
import { createCsr, createCsrPem, createKeys, now } from '../support/certificates/certificates.ts'
import { greedyRequests } from '../support/certificates/greedy-requests.ts'
import { refusedRequests } from '../support/certificates/hostile-requests.ts'
import { opensslOutput } from '../support/certificates/openssl.ts'

const spiffeId = 'spiffe://example.org/identity/abc'

let pki: Pki
beforeAll(async () => {
  pki = await createX509Pki(await createPkiMaterial({ hosts: ['localhost'], trustDomain: 'example.org', now }))
})

const issueFor = async (csrPem: string) => {
  const issued = await pki.issueClientCertificate({ csrPem, spiffeId, now })
  if (!issued.issued) throw new Error(`refused: ${issued.problem}`)
  return issued.leaf.pem
}

/** The extensions of a certificate, one line for each, as openssl prints them. */
const extensionsOf = (pem: string): string[] => {
  const text = opensslOutput(['x509', '-in', 'c.pem', '-noout', '-text'], { 'c.pem': pem })
  const [, extensions = ''] = /X509v3 extensions:\n([\s\S]*?)\n {4}Signature Algorithm/.exec(text) ?? []
  return extensions.split(/\n(?= {12}\S)/).map((extension) => extension.trim().replace(/\s+/g, ' '))
}

const template = [
  'X509v3 Key Usage: critical Digital Signature, Key Encipherment, Data Encipherment',
  'X509v3 Extended Key Usage: TLS Web Client Authentication, TLS Web Server Authentication',
  expect.stringMatching(/^X509v3 Authority Key Identifier: ([0-9A-F]{2}:){19}[0-9A-F]{2}$/),
]

describe('a certificate for a request that asks for', () => {
  it.each(greedyRequests)('%s says what the template says', async (asked, csr) => {
    const pem = await issueFor(await csr())
    const critical = asked === 'no subject' ? 'critical ' : ''
    expect(extensionsOf(pem)).toEqual([...template, `X509v3 Subject Alternative Name: ${critical}URI:${spiffeId}`])
    expect(new X509Certificate(pem)).toMatchObject({ ca: false, issuer: 'CN=example.org signing CA' })
  })
})

describe('a certificate takes from the request', () => {
  it.each(['P-256', 'P-384', 'P-521', 'RSA-2048', 'Ed25519'] as const)('its %s key', async (kind) => {
    const keys = await createKeys(kind)
    const { publicKey } = new X509Certificate(await issueFor(await createCsrPem({ keys })))
    const spki = new Uint8Array(await crypto.subtle.exportKey('spki', keys.publicKey))
    expect(new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))).toEqual(spki)
  })

  it.each(['CN=device', 'CN=Zażółć 🔑', 'C=DE, O=Example + OU=Unit, CN=a\\, b', 'CN=a, CN=b'])(
    'its subject, octet for octet: %s',
    async (subject) => {
      const csr = await createCsr({ subject })
      const certificate = new X509Certificate(await issueFor(csr.toString('pem')))
      expect(Buffer.from(certificate.raw).includes(Buffer.from(csr.subjectName.toArrayBuffer()))).toBe(true)
    },
  )

  it('the last of several common names as its common name', async () => {
    const csrPem = await createCsrPem({ subject: 'CN=first, CN=last' })
    expect(await pki.issueClientCertificate({ csrPem, spiffeId, now })).toMatchObject({ leaf: { commonName: 'last' } })
  })
})

describe('a request is taken', () => {
  it.each<[string, (pem: string) => string]>([
    ['with another label', (pem) => pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')],
    ['with carriage returns', (pem) => pem.replaceAll('\n', '\r\n')],
    ['with text before and blank lines after', (pem) => `Certificate Request:\n${pem}\n\n`],
    ['in long lines', (pem) => pem.replace(/(?<=[A-Za-z0-9+/=])\n(?=[A-Za-z0-9+/=])/g, '')],
  ])('%s', async (_, dress) => {
    await expect(issueFor(dress(await createCsrPem()))).resolves.toContain('BEGIN CERTIFICATE')
  })
})

describe('a request is refused', () => {
  it.each(refusedRequests)('for %s: %s', async (_, problem, csr) => {
    const csrPem = await csr()
    expect(await pki.issueClientCertificate({ csrPem, spiffeId, now })).toEqual({ issued: false, problem })
  })

  it.each(refusedRequests)('within 25 ms for %s', async (_name, _problem, csr) => {
    const csrPem = await csr()
    const times: number[] = []
    for (let run = 0; run < 3; run += 1) {
      const start = performance.now()
      await pki.issueClientCertificate({ csrPem, spiffeId, now })
      times.push(performance.now() - start)
    }
    expect(Math.min(...times)).toBeLessThan(25)
  })

  it('and a certificate is not trusted, without an exception, whatever octet is changed', async () => {
    const der = new Uint8Array((await createCsr()).rawData)
    const chain = new X509Certificate(await issueFor(await createCsrPem())).raw
    const octetOf = (length: number) => fc.tuple(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }))
    const changed = (octets: Uint8Array, [at, change]: readonly [number, number]) =>
      new Uint8Array(octets).with(at, (octets[at] ?? 0) ^ change)
    await fc.assert(
      fc.asyncProperty(octetOf(der.length), octetOf(chain.length), async (inRequest, inChain) => {
        const csrPem = writePem('CERTIFICATE REQUEST', changed(der, inRequest))
        expect(await pki.issueClientCertificate({ csrPem, spiffeId, now })).toMatchObject({ issued: false })
        expect(await pki.verifyClientChain([changed(chain, inChain)], now)).toEqual({ trusted: false })
      }),
      { numRuns: 300 },
    )
  })
})
