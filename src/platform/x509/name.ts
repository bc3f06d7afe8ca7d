import { type DerElement, derTag, elementsOf, fieldsOf } from './der.ts'
import { readOid } from './der-values.ts'
import { oid, sequence, set, utf8String } from './der-writer.ts'
import { oids } from './oids.ts'

/** One attribute of a distinguished name. `text` is undefined for a value that is no string. */
interface NameAttribute {
  readonly type: string
  readonly text: string | undefined
  readonly value: DerElement
}

/** A distinguished name: relative names in order, each a set of attributes. */
export type DistinguishedName = readonly (readonly NameAttribute[])[]

const decoders = new Map<number, (octets: Uint8Array) => string>([
  [0x0c, (octets) => new TextDecoder('utf-8').decode(octets)],
  [0x12, (octets) => latin1(octets)],
  [0x13, (octets) => latin1(octets)],
  [0x14, (octets) => latin1(octets)],
  [0x16, (octets) => latin1(octets)],
  [0x1c, (octets) => fixedWidth(octets, 4)],
  [0x1e, (octets) => fixedWidth(octets, 2)],
])

const latin1 = (octets: Uint8Array): string => fixedWidth(octets, 1)

const fixedWidth = (octets: Uint8Array, width: number): string => {
  let text = ''
  for (let at = 0; at < octets.length; at += width) {
    const code = octets.subarray(at, at + width).reduce((sum, octet) => sum * 256 + octet, 0)
    text += code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  }
  return text
}

/** Reads a Name of RFC 5280. Throws when it is malformed. */
export const readName = (element: DerElement): DistinguishedName => {
  if (element.tag !== derTag.sequence) throw new Error('not DER: name is malformed')
  return elementsOf(element).map((relative) => {
    if (relative.tag !== derTag.set) throw new Error('not DER: name is malformed')
    return elementsOf(relative).map((attribute) => {
      const fields = fieldsOf(attribute)
      const type = readOid(fields.take(derTag.oid))
      const value = fields.takeAny()
      fields.end()
      return { type, value, text: decoders.get(value.tag)?.(value.content) }
    })
  })
}

/** Every text of an attribute type in the name, in order. */
export const attributeTexts = (name: DistinguishedName, type: string): string[] =>
  name.flat().flatMap((attribute) => (attribute.type === type && attribute.text !== undefined ? [attribute.text] : []))

/** The common name; of several the last one, as in the deployed controllers, and empty text when there is none. */
export const commonNameOf = (name: DistinguishedName): string => attributeTexts(name, oids.commonName).at(-1) ?? ''

/**
 * Text by which two relative names are compared in name constraints: without regard to case, the string type and
 * repeated white space (RFC 5280 section 7.1).
 */
export const comparableRelativeNames = (name: DistinguishedName): string[] =>
  name.map((relative) =>
    relative
      .map(({ type, text, value }) => `${type}=${text === undefined ? value.encoded.join() : comparableText(text)}`)
      .toSorted()
      .join('\n'),
  )

const comparableText = (text: string): string => text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()

/** A Name that consists of a common name, DER. */
export const writeCommonName = (commonName: string) =>
  sequence(set(sequence(oid(oids.commonName), utf8String(commonName))))
