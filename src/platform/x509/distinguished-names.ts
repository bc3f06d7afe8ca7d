import type { GeneralName as GeneralNameStructure } from '@peculiar/asn1-x509'
import type { JsonGeneralName } from '@peculiar/x509'
import type { Library } from '../encoding/library.ts'
import type { DistinguishedName } from './name.ts'

/** A name in a subject alternative name or in a name constraint. */
export type GeneralName =
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly value: string }
  | { readonly kind: 'directory'; readonly value: DistinguishedName }
  /** Four or sixteen octets; in a constraint twice as many, the second half being the mask. Empty when malformed. */
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

/** The library reads addresses as text and writes text as octets; what it cannot write was no address. */
function addressOctets({ asn1, schema }: Library, text: string): Uint8Array {
  try {
    const encoded = schema.AsnConvert.serialize(asn1.AsnIpConverter.toASN(text))
    return new Uint8Array(schema.AsnConvert.parse(encoded, schema.OctetString).buffer)
  } catch {
    return new Uint8Array()
  }
}

/** A URI name. Throws on a character above 127, of which the encoding would keep only the low octet. */
export function uriName(uri: string): JsonGeneralName {
  if (/[^\0-\x7f]/.test(uri)) throw new Error(`'${uri}' has a character outside ASCII`)
  return { type: 'url', value: uri }
}

/** A DNS or IP name, told apart by its form. Throws on a host that is neither. */
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
