import { createPkiMaterial } from 'portcullis'
// Internals: the port of the PKI, which no entry point exports.
import { loadLibrary } from '../../../src/platform/x509/asn1-structures.ts'
import { issueRoot, selfIssuer } from '../../../src/platform/x509/authority-certificates.ts'
import { readCertificates } from '../../../src/platform/x509/certificate.ts'
import { writePem } from '../../../src/platform/x509/pem.ts'
import { loadSigningKey } from '../../../src/platform/x509/signing-key.ts'

/** Certificates of a network whose root ends `lifeMs` after `now` (epoch ms), long before everything that it issued. */
export async function shortRoot({ now, lifeMs }: { readonly now: number; readonly lifeMs: number }) {
  const { caKeyPem, caPem, ...rest } = await createPkiMaterial({
    hosts: ['localhost', '127.0.0.1'],
    trustDomain: 'corp.test',
    now,
  })
  const library = await loadLibrary()
  const [root] = readCertificates(library, caPem)
  const signing = await loadSigningKey(library, caKeyPem, root.publicKey)
  const holder = { commonName: 'corp.test root CA', publicKey: root.publicKey.der, now, trustDomain: 'corp.test' }
  const issuer = await selfIssuer(library, holder, signing)
  const der = await issueRoot(library, { ...holder, notAfter: now + lifeMs }, issuer)
  return { ...rest, caKeyPem, caPem: writePem('CERTIFICATE', der) }
}
