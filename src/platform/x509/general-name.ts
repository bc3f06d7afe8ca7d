import { type DerElement, elementsOf, readDer } from './der.ts'
import { readAscii } from './der-values.ts'
import { ascii, der, type Octets } from './der-writer.ts'
import { type DistinguishedName, readName } from './name.ts'

/** A name in a subject alternative name or in a name constraint. */
export type GeneralName =
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly value: string }
  | { readonly kind: 'directory'; readonly value: DistinguishedName }
  /** Four or sixteen octets; in a constraint twice as many, the second half being the mask. */
  | { readonly kind: 'ip'; readonly value: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'other' }

/** Reads one GeneralName of RFC 5280 section 4.2.1.6. Throws when it is malformed. */
export const readGeneralName = (element: DerElement): GeneralName => {
  switch (element.tag) {
    case 0x81:
      return { kind: 'email', value: readAscii(element.content) }
    case 0x82:
      return { kind: 'dns', value: readAscii(element.content) }
    case 0x86:
      return { kind: 'uri', value: readAscii(element.content) }
    case 0xa4:
      return { kind: 'directory', value: readName(readDer(element.content)) }
    case 0x87:
      return { kind: 'ip', value: element.content }
    default:
      return { kind: 'other' }
  }
}

export const readGeneralNames = (element: DerElement): GeneralName[] => elementsOf(element).map(readGeneralName)

export const writeUriName = (uri: string): Octets => ascii(uri, 0x86)

/** A DNS or IP name, told apart by its form. Throws on a host that is neither. */
export const writeHostName = (host: string): Octets => {
  const address = readIpAddress(host)
  if (address !== undefined) return der(0x87, address)
  if (!/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/i.test(host)) throw new Error(`'${host}' is not a host name`)
  return ascii(host, 0x82)
}

const readIpAddress = (host: string): Octets | undefined => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) {
    const octets = host.split('.').map(Number)
    return octets.every((octet) => octet < 256) ? Uint8Array.from(octets) : undefined
  }
  if (!host.includes(':') || !URL.canParse(`http://[${host}]/`)) return undefined
  // The URL parser answers the canonical form: hexadecimal groups, at most one `::`, no dotted quad.
  const groups = (text: string | undefined) => (text ? text.split(':').map((group) => Number.parseInt(group, 16)) : [])
  const [head, tail] = new URL(`http://[${host}]/`).hostname.slice(1, -1).split('::').map(groups)
  const filler = new Array<number>(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill(0)
  const all = [...(head ?? []), ...filler, ...(tail ?? [])]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
