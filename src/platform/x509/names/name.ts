import type { AttributeValue, Name } from '@peculiar/asn1-x509'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'

/** A distinguished name: relative names in order, each a set of attributes. */
export type DistinguishedName = Name

const COMMON_NAME = '2.5.4.3'
const EMAIL_ADDRESS = '1.2.840.113549.1.9.1'

/** Text of an attribute; undefined for a value that is none of the string types of RFC 5280. */
function textOf(value: AttributeValue): string | undefined {
  return value.anyValue === undefined ? value.toString() : undefined
}

/** Every attribute of a name that is text. */
export function attributeTextsOf(name: DistinguishedName): string[] {
  return name.flatMap((relative) => relative.flatMap(({ value }) => textOf(value) ?? []))
}

function attributeTexts(name: DistinguishedName, type: string): string[] {
  return name.flatMap((relative) =>
    relative.flatMap((attribute) => (attribute.type === type ? (textOf(attribute.value) ?? []) : [])),
  )
}

/** The common name; of several the last one, as in the deployed controllers, and empty text when there is none. */
export function commonNameOf(name: DistinguishedName): string {
  return attributeTexts(name, COMMON_NAME).at(-1) ?? ''
}

/** Mail addresses that the name holds as attributes, as certificates did before they had alternative names. */
export function emailAddressesOf(name: DistinguishedName): string[] {
  return attributeTexts(name, EMAIL_ADDRESS)
}

/**
 * Text by which two relative names are compared in name constraints: without regard to case, the string type and
 * repeated white space (RFC 5280 section 7.1).
 */
export function comparableRelativeNames(name: DistinguishedName): string[] {
  return name.map((relative) =>
    relative
      .map(({ type, value }) => {
        const text = textOf(value)
        return text === undefined ? `${type}#${hexOf(value.anyValue)}` : `${type}=${comparableText(text)}`
      })
      .toSorted()
      .join('\n'),
  )
}

function comparableText(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

function hexOf(octets: ArrayBuffer | null | undefined): string {
  return toHex(new Uint8Array(octets ?? []))
}

/** A name that consists of a common name, DER and as text. */
export function nameWithCommonName({ x509 }: Library, commonName: string) {
  const name = new x509.Name([{ CN: [{ utf8String: commonName }] }])
  return { der: new Uint8Array(name.toArrayBuffer()), text: name.toString(), commonName }
}
