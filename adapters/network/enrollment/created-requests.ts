import { isIP } from 'node:net'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A key of an endpoint, and the request to certify it (PKCS#10), both PEM. */
export interface SigningRequest {
  readonly key: string
  readonly csr: string
}

/** A fresh key of a router with requests for its two certificates, all PEM. */
export interface RouterRequests {
  readonly keyPem: string
  readonly clientCsrPem: string
  readonly serverCsrPem: string
}

/** Makes a P-256 key and a signing request for it. */
export async function createSigningRequest(commonName: string): Promise<SigningRequest> {
  const { keyPem, request } = await newKey(commonName)
  return { key: keyPem, csr: await request([]) }
}

/**
 * Makes the P-256 key of a router and the requests by which a controller certifies it: the first names the router by its id, the
 * second the hosts under which it is reached.
 */
export async function createRouterRequests(routerId: string, hosts: readonly string[]): Promise<RouterRequests> {
  const { keyPem, request } = await newKey(routerId)
  return { keyPem, clientCsrPem: await request([]), serverCsrPem: await request(hosts) }
}

interface NewKey {
  readonly keyPem: string
  /** The request to certify the key for these hosts, PEM. */
  readonly request: (hosts: readonly string[]) => Promise<string>
}

async function newKey(commonName: string): Promise<NewKey> {
  // Loaded here because it takes long, and most tests enroll nothing. It reads decorator metadata while it loads, so the
  // polyfill comes first.
  await import('reflect-metadata')
  const { PemConverter, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await import(
    '@peculiar/x509'
  )
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    keyPem: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
    request: async (hosts) => {
      const names = hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host }))
      const extensions = names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]
      const name = [{ CN: [commonName] }]
      const request = { name, keys, signingAlgorithm: ALGORITHM, extensions }
      return `${(await Pkcs10CertificateRequestGenerator.create(request)).toString('pem')}\n`
    },
  }
}

/** The certificates of PEM text, DER, in their order. */
export function certificatesIn(pem: string): readonly Uint8Array[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(
    ([, base64 = '']) => new Uint8Array(Buffer.from(base64, 'base64')),
  )
}
