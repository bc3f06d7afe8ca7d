import type { webcrypto } from 'node:crypto'
import { DER_LIMITS, requireDistinguished } from './der.ts'
import { findNativeCrypto, type NativeCrypto } from './native-crypto.ts'

interface Modules {
  readonly x509: typeof import('@peculiar/x509')
  readonly asn1: typeof import('@peculiar/asn1-x509')
  readonly schema: typeof import('@peculiar/asn1-schema')
  readonly structures: Structures
}

/** The X.509 library, and the WebCrypto by which it signs, verifies and digests. */
export interface Library extends Modules {
  readonly crypto: webcrypto.Crypto
  /** Faster cryptography for the operations that it supports; undefined when a WebCrypto was given. */
  readonly native: NativeCrypto | undefined
}

let modules: Promise<Modules> | undefined
let usual: Promise<Library> | undefined

/**
 * Loads the library on first use: it takes about 100 ms, which a program that only imports the package never spends. With the
 * cryptography of the runtime it is the same object each time.
 */
export async function loadLibrary(crypto?: webcrypto.Crypto): Promise<Library> {
  modules ??= importModules()
  if (crypto !== undefined) return { ...(await modules), crypto, native: undefined }
  usual ??= usualLibrary(modules)
  return usual
}

async function usualLibrary(loading: Promise<Modules>): Promise<Library> {
  const native = await findNativeCrypto()
  return { ...(await loading), crypto: globalThis.crypto, native }
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

/** The numbers of an RSA public key (RFC 8017), as the content of their INTEGERs. */
export interface RsaPublicKey {
  modulus: ArrayBuffer
  publicExponent: ArrayBuffer
}

/** ASN.1 structures that the X.509 library reads but does not export. */
export interface Structures {
  readonly RsaPublicKey: new () => RsaPublicKey
}

/** Declares the structures to the library; decorators are called as functions, because Node runs these sources as they are. */
function declareStructures({
  AsnIntegerArrayBufferConverter,
  AsnProp,
  AsnPropTypes,
}: typeof import('@peculiar/asn1-schema')): Structures {
  class RsaPublicKey {
    modulus = new ArrayBuffer(0)
    publicExponent = new ArrayBuffer(0)
  }
  const number = { type: AsnPropTypes.Integer, converter: AsnIntegerArrayBufferConverter }
  AsnProp(number)(RsaPublicKey.prototype, 'modulus')
  AsnProp(number)(RsaPublicKey.prototype, 'publicExponent')
  return { RsaPublicKey }
}

/**
 * Reads `der` as a structure of the given type. Throws when it is malformed, outsized, or not in the distinguished
 * encoding. The library by itself reads BER, in which the same certificate could be given any number of fingerprints.
 */
export function parseDer<T>({ schema }: Library, der: Uint8Array<ArrayBuffer>, type: new () => T): T {
  requireDistinguished(der)
  return schema.AsnConvert.parse(der, type, { berOptions: DER_LIMITS })
}

/** Runs `read`. Puts `part` before the message of its error, so that an operator sees the faulty file. */
export async function readPart<T>(part: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (problem) {
    throw new Error(`${part}: ${problem instanceof Error ? problem.message : 'cannot be read'}`, { cause: problem })
  }
}
