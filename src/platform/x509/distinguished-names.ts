import type { AttributeValue, GeneralName as GeneralNameStructure, Name } from '@peculiar/asn1-x509'
import type { JsonGeneralName } from '@peculiar/x509'
import { toHex } from '../../base/bytes.ts'
import type { Library } from './asn1-structures.ts'

/** A distinguished name: relative names in order, each a set of attributes. */
export type DistinguishedName = Name

const COMMON_NAME = '2.5.4.3'
const EMAIL_ADDRESS = '1.2.840.113549.1.9.1'

/** Text of an attribute; undefined for a value outside of the string types of RFC 5280. */
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

/** The last common name, as in deployed controllers; empty for a name without one. */
export function commonNameOf(name: DistinguishedName): string {
  return attributeTexts(name, COMMON_NAME).at(-1) ?? ''
}

/** Mail addresses that the name holds as attributes, as certificates did before they had alternative names. */
export function emailAddressesOf(name: DistinguishedName): string[] {
  return attributeTexts(name, EMAIL_ADDRESS)
}

/**
 * Texts by which name constraints compare relative names: without regard to case, string type and repeated white space (RFC 5280 section
 * 7.1).
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

/** A name in a subject alternative name or in a name constraint. */
export type GeneralName =
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly value: string }
  | { readonly kind: 'directory'; readonly value: DistinguishedName }
  /** Four or sixteen octets; in a constraint twice as many, with the mask as second half. Empty for a malformed address. */
  | { readonly kind: 'ip'; readonly value: Uint8Array }
  | { readonly kind: 'other' }

/** One GeneralName of RFC 5280 section 4.2.1.6, as the rules compare it. */
export function readGeneralName(library: Library, name: GeneralNameStructure): GeneralName {
  if (name.rfc822Name !== undefined) return { kind: 'email', value: name.rfc822Name }
  if (name.dNSName !== undefined) return { kind: 'dns', value: name.dNSName }
  if (name.uniformResourceIdentifier !== undefined) return { kind: 'uri', value: name.uniformResourceIdentifier }
  if (name.directoryName !== undefined) return { kind: 'directory', value: name.directoryName }
  if (name.iPAddress !== undefined) return { kind: 'ip', value: addressOctets(library, name.iPAddress) }
  return { kind: 'other' }
}

/** The octets of an address, which the library reads as text; empty for text that it cannot write back. */
function addressOctets({ asn1, schema }: Library, text: string): Uint8Array {
  try {
    const encoded = schema.AsnConvert.serialize(asn1.AsnIpConverter.toASN(text))
    return new Uint8Array(schema.AsnConvert.parse(encoded, schema.OctetString).buffer)
  } catch {
    return new Uint8Array()
  }
}

/** A URI name. Throws for a character above 127, since the encoding would keep only its low octet. */
export function uriName(uri: string): JsonGeneralName {
  if (/[^\0-\x7f]/.test(uri)) throw new Error(`'${uri}' has a character outside ASCII`)
  return { type: 'url', value: uri }
}

/** A DNS or IP name, by its form. Throws for any other host. */
export function hostName(host: string): JsonGeneralName {
  // The URL parser answers the canonical form of an IPv6 address: hexadecimal groups, no dotted quad.
  const address = `http://[${host}]/`
  if (host.includes(':') && URL.canParse(address)) return { type: 'ip', value: new URL(address).hostname.slice(1, -1) }
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(host) && host.split('.').every((octet) => Number(octet) < 256)) {
    return { type: 'ip', value: host }
  }
  if (!/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/i.test(host)) throw new Error(`'${host}' is not a host name`)
  return { type: 'dns', value: host }
}

/** The text of a host name or IP address, IPv6 in its shortest form; nothing for another name or a malformed address. */
export function hostTextOf(name: GeneralName): readonly string[] {
  if (name.kind === 'dns') return [name.value]
  if (name.kind !== 'ip') return []
  if (name.value.length === 4) return [name.value.join('.')]
  return name.value.length === 16 ? [ipv6Text(name.value)] : []
}

function ipv6Text(octets: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, at) => octets.subarray(2 * at, 2 * at + 2))
  const written = groups.map(([high = 0, low = 0]) => (high * 256 + low).toString(16)).join(':')
  // The URL parser shortens addresses to their usual form.
  return new URL(`http://[${written}]/`).hostname.slice(1, -1)
}
