import type { webcrypto } from 'node:crypto'
import { findNativeCrypto, type NativeCrypto } from '../crypto/native-crypto.ts'
import { declareStructures, type Structures } from './structures.ts'

interface Modules {
  readonly x509: typeof import('@peculiar/x509')
  readonly asn1: typeof import('@peculiar/asn1-x509')
  readonly schema: typeof import('@peculiar/asn1-schema')
  readonly structures: Structures
}

/** The X.509 library, together with the WebCrypto that it signs, verifies and digests with. */
export interface Library extends Modules {
  readonly crypto: webcrypto.Crypto
  /** What signs, verifies and digests instead where it can; not where a WebCrypto was given. */
  readonly native: NativeCrypto | undefined
}

let modules: Promise<Modules> | undefined

/** Loads the library on first use: it takes about 100 ms, which a program that only imports the package never spends. */
export async function loadLibrary(crypto?: webcrypto.Crypto): Promise<Library> {
  modules ??= importModules()
  const native = crypto === undefined ? await findNativeCrypto() : undefined
  return { ...(await modules), crypto: crypto ?? globalThis.crypto, native }
}

async function importModules(): Promise<Modules> {
  // The library reads decorator metadata while it loads, so the polyfill must be there before.
  await import('reflect-metadata')
  const [x509, asn1, schema] = await Promise.all([
    import('@peculiar/x509'),
    import('@peculiar/asn1-x509'),
    import('@peculiar/asn1-schema'),
  ])
  return { x509, asn1, schema, structures: declareStructures(schema) }
}
