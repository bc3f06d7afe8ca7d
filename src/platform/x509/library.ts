import type { webcrypto } from 'node:crypto'

interface Modules {
  readonly x509: typeof import('@peculiar/x509')
  readonly asn1: typeof import('@peculiar/asn1-x509')
  readonly cms: typeof import('@peculiar/asn1-cms')
  readonly csr: typeof import('@peculiar/asn1-csr')
  readonly pkcs8: typeof import('@peculiar/asn1-pkcs8')
  readonly rsa: typeof import('@peculiar/asn1-rsa')
  readonly schema: typeof import('@peculiar/asn1-schema')
}

/** The X.509 library, together with the WebCrypto that it signs, verifies and digests with. */
export interface Library extends Modules {
  readonly crypto: webcrypto.Crypto
}

let modules: Promise<Modules> | undefined

/** Loads the library on first use: it takes about 100 ms, which a program that only imports the package never spends. */
export const loadLibrary = async (crypto: webcrypto.Crypto = globalThis.crypto): Promise<Library> => {
  modules ??= importModules()
  return { ...(await modules), crypto }
}

const importModules = async (): Promise<Modules> => {
  // The library reads decorator metadata while it loads, so the polyfill must be there before.
  await import('reflect-metadata')
  const [x509, asn1, cms, csr, pkcs8, rsa, schema] = await Promise.all([
    import('@peculiar/x509'),
    import('@peculiar/asn1-x509'),
    import('@peculiar/asn1-cms'),
    import('@peculiar/asn1-csr'),
    import('@peculiar/asn1-pkcs8'),
    import('@peculiar/asn1-rsa'),
    import('@peculiar/asn1-schema'),
  ])
  return { x509, asn1, cms, csr, pkcs8, rsa, schema }
}
