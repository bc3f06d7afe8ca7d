import { isIP } from 'node:net'

/** A fresh key of a router with requests for its two certificates, all PEM. */
export interface RouterKey {
  readonly keyPem: string
  readonly clientCsrPem: string
  readonly serverCsrPem: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/**
 * Makes the key of a router and the requests by which a controller certifies it: the first names the router by its id, the
 * second the hosts under which it is reached.
 */
export async function newRouterKey(routerId: string, hosts: readonly string[]): Promise<RouterKey> {
  // Some of what this loads needs it, before.
  await import('reflect-metadata')
  const { PemConverter, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await import(
    '@peculiar/x509'
  )
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  const request = { name: [{ CN: [routerId] }], keys, signingAlgorithm: ALGORITHM }
  const names = hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host }))
  const extensions = names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]
  const client = await Pkcs10CertificateRequestGenerator.create(request)
  const server = await Pkcs10CertificateRequestGenerator.create({ ...request, extensions })
  return {
    keyPem: PemConverter.encode(key, 'PRIVATE KEY'),
    clientCsrPem: client.toString('pem'),
    serverCsrPem: server.toString('pem'),
  }
}
