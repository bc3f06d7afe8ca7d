import type { Library } from './library.ts'
import { isDistinguished } from './read-der.ts'

/** Several times what real certificates have; the time that reading takes grows with the number of nodes. */
const LIMITS = { berOptions: { maxDepth: 32, maxNodes: 1000 } }

/**
 * Reads `der` as a structure of the given type. Throws when it is malformed, outsized, or not in the distinguished
 * encoding. The library by itself reads BER, in which the same certificate could be given any number of fingerprints.
 */
export function parseDer<T>({ schema }: Library, der: Uint8Array<ArrayBuffer>, type: new () => T): T {
  if (!isDistinguished(der)) throw new Error('not the distinguished encoding')
  return schema.AsnConvert.parse(der, type, LIMITS)
}
