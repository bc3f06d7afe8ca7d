import { fromBase64, toBase64 } from '../../base/bytes.ts'
import { DER_TAGS, writeDer } from './der.ts'

/** The longest accepted PEM block in characters, and the largest certificate in octets: 64 KiB. */
export const MAX_PEM_SIZE = 64 * 1024

export interface PemBlock {
  /** The text between `BEGIN ` and the dashes, such as `CERTIFICATE`. */
  readonly label: string
  readonly der: Uint8Array<ArrayBuffer>
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/

/**
 * The PEM blocks of `text`, in order; text outside blocks is skipped. Throws for a block without an end, with headers, with other text than
 * base64, or above 64 KiB. Unlike the pattern of the X.509 library, whose time doubles with every folded header line, this takes time in
 * proportion to the text.
 */
export function readPemBlocks(text: string): PemBlock[] {
  // A JavaScript caller may have left it out, or read it as bytes.
  if (typeof text !== 'string') throw new Error(text === undefined ? 'is missing' : 'is not text')
  const blocks: PemBlock[] = []
  let label: string | undefined
  let body: string[] = []
  let size = 0
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    if (label === undefined) {
      label = BEGIN.exec(line)?.[1]
      if (label === undefined && line.startsWith('-----BEGIN'))
        throw new Error('PEM block begins with a malformed line')
    } else if (line === `-----END ${label}-----`) {
      blocks.push({ label, der: fromBase64(body.join('')) })
      label = undefined
      body = []
      size = 0
    } else {
      size += line.length
      if (size > MAX_PEM_SIZE) throw new Error('PEM block is larger than 64 KiB')
      body.push(line)
    }
  }
  if (label !== undefined) throw new Error('PEM block has no end line')
  return blocks
}

/** PEM text of one block: lines of 64 characters and a final newline. */
export function writePem(label: string, der: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${toBase64(der).replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`
}

/** 1.2.840.113549.1.7.1 and .2, the content types of PKCS#7. */
const DATA = Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01)
const SIGNED_DATA = Uint8Array.of(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02)
const VERSION_1 = Uint8Array.of(1)

/**
 * A PKCS#7 that carries certificates and nothing else, DER: a SignedData without content and signers (RFC 5652, 5.1). The content must be
 * absent rather than empty, because clients on mbedTLS take the element after its type for the certificates.
 */
export function writeCertsOnly(certificates: readonly Uint8Array[]): Uint8Array {
  const { integer, objectIdentifier, sequence, set, context0 } = DER_TAGS
  // DER sorts the members of a SET OF by their bytes, and strict readers check it.
  const ordered = certificates.toSorted(compareBytes)
  const signedData = writeDer(
    sequence,
    writeDer(integer, VERSION_1),
    writeDer(set),
    writeDer(sequence, writeDer(objectIdentifier, DATA)),
    writeDer(context0, ...ordered),
    writeDer(set),
  )
  return writeDer(sequence, writeDer(objectIdentifier, SIGNED_DATA), writeDer(context0, signedData))
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const at = left.findIndex((byte, index) => byte !== right[index])
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1)
}
