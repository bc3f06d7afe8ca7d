import { expect, it } from 'vitest'
import { readCertificate } from '../../src/platform/x509/certificates/certificate.ts'
import { RecentCertificates } from '../../src/platform/x509/certificates/recent-certificates.ts'
import { loadLibrary } from '../../src/platform/x509/encoding/library.ts'
import { derOf, issueClient } from '../support/certificates/certificates.ts'

it('recent certificates are so many at most, and those in use stay', async () => {
  const library = await loadLibrary()
  const make = async () => readCertificate(library, derOf(await issueClient()))
  const [first, second, third] = [await make(), await make(), await make()]
  const recent = new RecentCertificates(2)
  for (const certificate of [first, second, first, third]) recent.add(certificate)
  expect([first, second, third].map(({ pem }) => recent.get(pem))).toEqual([first, undefined, third])
})
