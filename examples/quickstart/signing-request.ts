// The library reads decorator metadata while it loads, so the polyfill comes first.
import 'reflect-metadata'
import { PemConverter, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'

/** Makes a P-256 key and a certificate signing request (PKCS#10) for it, both PEM. The key never leaves the device. */
export async function createSigningRequest(name: string): Promise<{ readonly key: string; readonly csr: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
  })
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { key: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`, csr: `${request.toString('pem')}\n` }
}
