import 'reflect-metadata'
import type { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** A certificate with its key, both PEM, and the certificate's DER. */
export interface Issued {
  readonly key: string
  readonly cert: string
  readonly der: Uint8Array
  readonly keys: webcrypto.CryptoKeyPair
  readonly name: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const day = 86_400_000

/** Issues a certificate; without an issuer it signs itself. `expired` ones ended yesterday. */
export async function issue(
  commonName: string,
  issuer?: Issued,
  { ca = false, expired = false } = {},
): Promise<Issued> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const name = `CN=${commonName}`
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex'),
    subject: name,
    issuer: issuer?.name ?? name,
    notBefore: new Date(Date.now() - 2 * day),
    notAfter: new Date(Date.now() + (expired ? -day : day)),
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(ca, undefined, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]),
    ],
  })
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
    cert: `${certificate.toString('pem')}\n`,
    der: new Uint8Array(certificate.rawData),
    keys,
    name,
  }
}
