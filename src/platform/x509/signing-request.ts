import type { CsrProblem } from '../../ports/pki.ts'
import { type DerElement, derTag, fieldsOf, readDer } from './der.ts'
import { readOctetAlignedBits } from './der-values.ts'
import { readName } from './name.ts'
import { maxPemSize, readPemBlocks } from './pem.ts'
import { readPublicKey, WeakKey } from './public-key.ts'
import { verifiesSignature } from './signature.ts'

/** What a certificate takes from a signing request. Attributes and requested extensions are not even read. */
export interface SigningRequest {
  readonly encodedSubject: Uint8Array
  readonly spki: DerElement
}

/** A subject is copied into every certificate that is issued for it; real ones take some hundred octets. */
const maxSubjectSize = 4096

/**
 * Reads a PKCS#10 request (RFC 2986) from one PEM block, whatever its label, and checks that its key is strong enough
 * and signed it.
 */
export const readSigningRequest = async (pem: string): Promise<SigningRequest | CsrProblem> => {
  if (pem.trim() === '') return 'missing'
  try {
    const outer = fieldsOf(readDer(readSingleBlock(pem)))
    const info = outer.take(derTag.sequence)
    const algorithm = outer.take(derTag.sequence)
    const signature = readOctetAlignedBits(outer.take(derTag.bitString))
    outer.end()

    const fields = fieldsOf(info)
    fields.take(derTag.integer)
    const subject = fields.take(derTag.sequence)
    const spki = fields.take(derTag.sequence)
    fields.takeIf(0xa0)
    fields.end()
    readName(subject)
    if (subject.encoded.length > maxSubjectSize) return 'unparsable'

    const publicKey = readPublicKey(spki)
    const proven = await verifiesSignature({ body: info.encoded, algorithm, signature }, publicKey, spki)
    return proven ? { encodedSubject: subject.encoded, spki } : 'bad-signature'
  } catch (problem) {
    return problem instanceof WeakKey ? 'weak-key' : 'unparsable'
  }
}

const readSingleBlock = (pem: string): Uint8Array<ArrayBuffer> => {
  if (pem.length > maxPemSize) throw new Error('signing request is larger than 64 KiB')
  const [block, ...others] = readPemBlocks(pem)
  if (block === undefined || others.length > 0) throw new Error('signing request is not exactly one PEM block')
  const lastLine = pem.trimEnd().split('\n').at(-1)?.trim()
  if (lastLine !== `-----END ${block.label}-----`) throw new Error('signing request has text after its PEM block')
  return block.der
}
