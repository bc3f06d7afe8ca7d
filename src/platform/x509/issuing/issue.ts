import type { webcrypto } from 'node:crypto'
import type * as x509 from '@peculiar/x509'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'
import type { SigningKey } from '../keys/signing-key.ts'

/** Everything that a certificate will say. The issuer adds a serial number and its signature. */
export interface CertificateTemplate {
  readonly issuer: x509.Name
  readonly subject: x509.Name
  readonly publicKey: x509.PublicKey
  /** Milliseconds since the Unix epoch, written to the second. */
  readonly notBefore: number
  readonly notAfter: number
  readonly extensions: readonly x509.Extension[]
}

/** Signs a version 3 certificate (RFC 5280) with a serial number of 20 octets, 158 bits of it random; answers DER. */
export async function issueCertificate(
  library: Library,
  template: CertificateTemplate,
  { algorithm, sign }: Pick<SigningKey, 'algorithm' | 'sign'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { x509, crypto } = library
  const serial = crypto.getRandomValues(new Uint8Array(20))
  // Positive, and without a leading zero that an encoder would drop.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  // The library signs through WebCrypto alone. Of it and of the key it uses just this much, which a key that is held
  // elsewhere has too.
  const signing = {
    subtle: { sign: (_algorithm: unknown, _key: unknown, data: ArrayBuffer) => sign(new Uint8Array(data)) },
  }
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: toHex(serial),
      issuer: template.issuer,
      subject: template.subject,
      publicKey: template.publicKey,
      notBefore: new Date(template.notBefore),
      notAfter: new Date(template.notAfter),
      extensions: [...template.extensions],
      signingKey: { algorithm } as unknown as webcrypto.CryptoKey,
      signingAlgorithm: algorithm,
    },
    signing as unknown as webcrypto.Crypto,
  )
  return new Uint8Array(certificate.rawData)
}
