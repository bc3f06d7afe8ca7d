import { X509Certificate } from 'node:crypto'
import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { createKeys, day, issue, issueAuthority, keyPemOf, now, pemOf } from '../support/certificates/certificates.ts'
import { openssl, opensslOutput } from '../support/certificates/openssl.ts'

const request = { hosts: ['ctrl.example.com', '127.0.0.1', '::1', 'fd00:0:1::a'], trustDomain: 'example.org', now }
const year = 365.25 * day

let material: PkiMaterial
beforeAll(async () => {
  material = await createPkiMaterial(request)
})

const chainFiles = () => ({
  'root.pem': material.caPem,
  'signing.pem': material.signingCertPem,
  'server.pem': material.serverCertPem,
})

const textOf = (pem: string) => opensslOutput(['x509', '-in', 'c.pem', '-noout', '-text'], { 'c.pem': pem })

describe('created material', () => {
  it.each(['ctrl.example.com', '127.0.0.1', '::1'])('lets a strict client verify the server as %s', (host) => {
    const identity = /^[\d.]+$|:/.test(host) ? '-verify_ip' : '-verify_hostname'
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-attime', `${now / 1000}`, identity, host]
    const chain = ['-CAfile', 'root.pem', '-untrusted', 'server.pem', 'server.pem']
    expect(openssl([...args, ...chain], chainFiles())).toMatchObject({ succeeded: true })
    expect(openssl([...args.slice(0, -1), '10.1.1.1', ...chain], chainFiles())).toMatchObject({ succeeded: false })
  })

  it('names every host and the trust domain in the server certificate', () => {
    expect(new X509Certificate(material.serverCertPem).subjectAltName?.split(', ')).toEqual([
      'DNS:ctrl.example.com',
      'IP Address:127.0.0.1',
      'IP Address:0:0:0:0:0:0:0:1',
      'IP Address:FD00:0:1:0:0:0:0:A',
      'URI:spiffe://example.org/controller/ctrl.example.com',
    ])
  })

  it.each([
    ['root', () => material.caPem, 10, ['CA:TRUE', 'Certificate Sign, CRL Sign', 'Subject Key Identifier']],
    [
      'signing authority',
      () => material.signingCertPem,
      5,
      ['CA:TRUE, pathlen:0', 'Certificate Sign, CRL Sign', 'Authority Key Identifier'],
    ],
    [
      'server',
      () => material.serverCertPem,
      1,
      ['Digital Signature', 'TLS Web Server Authentication', 'Authority Key Identifier'],
    ],
  ] as const)('%s: P-256, valid for its years, with the usages of its role', (_, pem, years, texts) => {
    const certificate = new X509Certificate(pem())
    const text = textOf(pem())
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
    expect(Date.parse(certificate.validFrom)).toBe(now - 60_000)
    expect((Date.parse(certificate.validTo) - now) / year).toBeCloseTo(years, 1)
    for (const expected of texts) expect(text).toContain(expected)
  })

  it.each([
    ['signingCertPem', 'signingKeyPem'],
    ['serverCertPem', 'serverKeyPem'],
  ] as const)('%s and %s belong together', (certificate, key) => {
    const fromKey = opensslOutput(['pkey', '-in', 'k.pem', '-pubout'], { 'k.pem': material[key] })
    const fromCertificate = opensslOutput(['x509', '-in', 'c.pem', '-noout', '-pubkey'], {
      'c.pem': material[certificate],
    })
    expect(fromKey).toBe(fromCertificate)
  })

  it('differs from one network to the next', async () => {
    expect((await createPkiMaterial(request)).signingKeyPem).not.toBe(material.signingKeyPem)
  })

  it.each(['', 'Example.org', 'a/b', 'x'.repeat(256)])('refuses the trust domain %j', async (trustDomain) => {
    await expect(createPkiMaterial({ ...request, trustDomain })).rejects.toThrow('is not a SPIFFE trust domain')
  })

  it.each(['', 'a b', 'exämple.com', 'host/path', '300.1.1.1:', '::g'])('refuses the host %j', async (host) => {
    await expect(createPkiMaterial({ ...request, hosts: [host] })).rejects.toThrow('is not a host name')
  })

  it('has an RSA server key that can carry either key exchange, when asked, below the same authorities', async () => {
    const rsa = await createPkiMaterial({ ...request, serverKey: 'RSA-2048' })
    expect(new X509Certificate(rsa.serverCertPem).publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 })
    expect(textOf(rsa.serverCertPem)).toContain('Digital Signature, Key Encipherment')
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-attime', `${now / 1000}`]
    const files = { 'root.pem': rsa.caPem, 'server.pem': rsa.serverCertPem }
    const verified = openssl([...args, '-CAfile', 'root.pem', '-untrusted', 'server.pem', 'server.pem'], files)
    expect(verified).toMatchObject({ succeeded: true })
  })

  it('is taken without hosts', async () => {
    const { serverCertPem } = await createPkiMaterial({ ...request, hosts: [] })
    expect(new X509Certificate(serverCertPem).subjectAltName).toBe('URI:spiffe://example.org/controller/controller')
  })
})

describe('trust domain', () => {
  /** The trust domain in the name of a device that enrolls. */
  const domainOf = async (options: TestControllerOptions) => {
    const controller = await createTestController({ now, ...options })
    const { cert } = await controller.enroll('laptop')
    await controller.close()
    const [leaf = ''] = cert.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []
    const names = new X509Certificate(leaf).subjectAltName ?? ''
    return new URL(names.replace(/^URI:/, '').replace('spiffe:', 'https:')).host
  }

  it('comes from the options first', async () => {
    expect(await domainOf({ pki: material, trustDomain: 'other.example' })).toBe('other.example')
  })

  it('comes from a SPIFFE id in the certificates next', async () => {
    expect(await domainOf({ pki: material })).toBe('example.org')
  })

  it('is the fingerprint of the root otherwise', async () => {
    const root = await issueAuthority({ subject: 'CN=root' })
    const caPem = pemOf(root)
    const server = await issue()
    const pki = {
      caPem,
      signingCertPem: caPem,
      signingKeyPem: await keyPemOf(root.keys),
      serverCertPem: pemOf(server),
      serverKeyPem: await keyPemOf(server.keys),
    }
    expect(await domainOf({ pki })).toBe(new X509Certificate(caPem).fingerprint.replaceAll(':', '').toLowerCase())
  })
})

describe('an authority over wrong material is refused', () => {
  const cut = (pem: string) => pem.replace(/\n[^\n]+\n-----END/, '\n-----END')

  it.each<[string, () => Partial<PkiMaterial> | Promise<Partial<PkiMaterial>>, RegExp]>([
    ['an empty trust bundle', () => ({ caPem: '' }), /^caPem: no certificate found$/],
    ['a certificate that is cut off', () => ({ caPem: cut(material.caPem) }), /^caPem: .*truncated$/],
    ['PEM without its end', () => ({ caPem: material.caPem.slice(0, -20) }), /^caPem: PEM block has no end line$/],
    [
      'a bundle without a root',
      () => ({ caPem: material.signingCertPem }),
      /^caPem: no self-signed certificate authority/,
    ],
    [
      'a key instead of a certificate',
      () => ({ signingCertPem: material.signingKeyPem }),
      /^signingCertPem: no certificate/,
    ],
    ['no server certificate', () => ({ serverCertPem: 'x' }), /^serverCertPem: no certificate found$/],
    [
      'a certificate instead of a key',
      () => ({ signingKeyPem: material.caPem }),
      /^signingKeyPem: no private key found$/,
    ],
    [
      'the key of another certificate',
      () => ({ signingKeyPem: material.serverKeyPem }),
      /^signingKeyPem: does not match/,
    ],
    [
      'a key of another kind',
      async () => ({ signingKeyPem: await keyPemOf(await createKeys('RSA-2048')) }),
      /^signingKeyPem: .*match/,
    ],
    ['no server key', () => ({ serverKeyPem: '' }), /^serverKeyPem: no private key found$/],
    [
      'the server key of another certificate',
      () => ({ serverKeyPem: material.signingKeyPem }),
      /^serverKeyPem: does not match its certificate$/,
    ],
    [
      'a server key of another kind',
      async () => ({ serverKeyPem: await keyPemOf(await createKeys('P-384')) }),
      /^serverKeyPem: .*match/,
    ],
    [
      'a signing authority of another network',
      async () => {
        const { signingCertPem, signingKeyPem } = await createPkiMaterial(request)
        return { signingCertPem, signingKeyPem }
      },
      /^signingCertPem: is not a certificate authority that leads to a root of caPem$/,
    ],
    [
      'a signing certificate that is no authority',
      () => ({ signingCertPem: material.serverCertPem, signingKeyPem: material.serverKeyPem }),
      /^signingCertPem: is not a certificate authority/,
    ],
    [
      'an RSA root of 1024 bits',
      async () => ({ caPem: pemOf(await issueAuthority({ kind: 'RSA-1024' })) }),
      /^caPem: RSA modulus is too weak$/,
    ],
  ])('%s', async (_, wrong, message) => {
    await expect(createTestController({ now, pki: { ...material, ...(await wrong()) } })).rejects.toThrow(message)
  })
})
