import type { Library } from './library.ts'
import { DER_LIMITS, requireDistinguished } from './read-der.ts'

/**
 * Reads `der` as a structure of the given type. Throws when it is malformed, outsized, or not in the distinguished
 * encoding. The library by itself reads BER, in which the same certificate could be given any number of fingerprints.
 */
export function parseDer<T>({ schema }: Library, der: Uint8Array<ArrayBuffer>, type: new () => T): T {
  requireDistinguished(der)
  return schema.AsnConvert.parse(der, type, { berOptions: DER_LIMITS })
}
