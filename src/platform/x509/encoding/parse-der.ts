import type { AlgorithmIdentifier } from '@peculiar/asn1-x509'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from './library.ts'

/** Several times what real certificates have; the time that reading takes grows with the number of nodes. */
const LIMITS = { berOptions: { maxDepth: 32, maxNodes: 1000 } }

/**
 * Reads `der` as a structure of the given type. Throws when it is malformed, outsized, or not in the distinguished
 * encoding: every length is definite, minimal and within what holds it, and nothing follows. The library by itself reads
 * BER, in which the same certificate could be given any number of fingerprints.
 */
export function parseDer<T>({ schema }: Library, der: Uint8Array, type: new () => T): T {
  const parsed = schema.AsnConvert.parse(der, type, LIMITS)
  const written = schema.AsnAnyConverter.toASN(new Uint8Array(der).buffer).toBER()
  if (toHex(new Uint8Array(written)) !== toHex(der)) throw new Error('not the distinguished encoding')
  return parsed
}

/** The parts of something signed: a certificate or a signing request. `body` is what the signature covers, DER. */
export interface SignedParts {
  readonly body: ArrayBuffer | undefined
  readonly algorithm: AlgorithmIdentifier
  readonly signature: ArrayBuffer
}

/** Whether the signed structure `der` holds these parts and nothing else, for the signature covers only the body. */
export function consistsOf({ schema }: Library, der: Uint8Array, { body, algorithm, signature }: SignedParts): boolean {
  const encoded = (value: unknown): string => toHex(new Uint8Array(schema.AsnConvert.serialize(value)))
  const parts = toHex(new Uint8Array(body ?? [])) + encoded(algorithm) + encoded(new schema.BitString(signature))
  const whole = toHex(der)
  return whole.startsWith('30') && whole.endsWith(parts)
}
