import { toHex } from '../../encoding/hex.ts'
import { readElements, readSequence, requireDistinguished } from './read-der.ts'
import { DER_TAGS } from './write-der.ts'

/** Something signed: a certificate or a signing request. */
export interface Signed {
  /** What the signature covers, DER. */
  readonly body: Uint8Array<ArrayBuffer>
  /** The algorithm of the signature as it is named, DER, and its object identifier in hexadecimal. */
  readonly algorithm: Uint8Array<ArrayBuffer>
  readonly algorithmId: string
  readonly signature: Uint8Array<ArrayBuffer>
}

/**
 * Takes apart what is signed. Throws unless it is in the distinguished encoding and consists of a body, an algorithm and a
 * signature of whole octets, and of nothing else, for the signature covers only the body.
 */
export function readSigned(der: Uint8Array<ArrayBuffer>): Signed {
  requireDistinguished(der)
  const [body, algorithm, signature, ...others] = readSequence(der)
  const [id, , ...more] = algorithm === undefined ? [] : readElements(algorithm.content)
  const isWhole =
    body?.tag === DER_TAGS.sequence &&
    algorithm?.tag === DER_TAGS.sequence &&
    id?.tag === DER_TAGS.objectIdentifier &&
    signature?.tag === DER_TAGS.bitString &&
    signature.content[0] === 0
  if (!isWhole || others.length + more.length > 0) throw new Error('not a body with its signature')
  return {
    body: body.whole,
    algorithm: algorithm.whole,
    algorithmId: toHex(id.content),
    signature: signature.content.subarray(1),
  }
}
