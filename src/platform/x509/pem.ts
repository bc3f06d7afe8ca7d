import { fromBase64, toBase64 } from '../../../domain/encoding/base64.ts'

/** Longest PEM block and largest certificate that is looked at, in characters and octets: 64 KiB. */
export const MAX_PEM_SIZE = 64 * 1024

export interface PemBlock {
  /** What stands between `BEGIN ` and the dashes, such as `CERTIFICATE`. */
  readonly label: string
  readonly der: Uint8Array<ArrayBuffer>
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/

/**
 * The PEM blocks of `text`, in order; text outside blocks is skipped. Throws on a block without its end, with headers,
 * with anything but base64 inside, or over 64 KiB. Unlike the pattern of the X.509 library, whose time doubles with every
 * folded header line, this takes time in proportion to the text.
 */
export function readPemBlocks(text: string): PemBlock[] {
  // A program without types may have left it out, or read it as bytes.
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
