const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A key of an endpoint, and the request to certify it (PKCS#10), both PEM. */
export interface SigningRequest {
  readonly key: string
  readonly csr: string
}

/** Makes a P-256 key and a signing request for it. */
export async function createSigningRequest(commonName: string): Promise<SigningRequest> {
  // Loaded here because it takes long, and most tests enroll nothing. It reads decorator metadata while it loads, so the
  // polyfill comes first.
  await import('reflect-metadata')
  const { PemConverter, Pkcs10CertificateRequestGenerator } = await import('@peculiar/x509')
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const name = [{ CN: [commonName] }]
  const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: ALGORITHM })
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { key: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`, csr: `${request.toString('pem')}\n` }
}

/** The certificates of PEM text, DER, in their order. */
export function certificatesIn(pem: string): readonly Uint8Array[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(
    ([, base64 = '']) => new Uint8Array(Buffer.from(base64, 'base64')),
  )
}
