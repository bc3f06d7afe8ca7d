import type { CertificateFacts } from '../../ports/pki.ts'
import { toHex } from '../hex.ts'
import type { Certificate } from './certificate.ts'
import { commonNameOf } from './name.ts'
import { writePem } from './pem.ts'

/** Lower-case hexadecimal SHA-1 of the DER form, the field's fingerprint of a certificate. */
export const fingerprintOf = async ({ der }: Certificate): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', der)))

/** PEM text of certificates, one block after the other. */
export const pemOf = (...certificates: readonly Certificate[]): string =>
  certificates.map(({ der }) => writePem('CERTIFICATE', der)).join('')

export const certificateFacts = async (certificate: Certificate): Promise<CertificateFacts> => ({
  fingerprint: await fingerprintOf(certificate),
  pem: pemOf(certificate),
  commonName: commonNameOf(certificate.subject),
  notBefore: certificate.notBefore,
  notAfter: certificate.notAfter,
})
