import { type DerElement, derTag } from './der.ts'

const expect = (element: DerElement, tag: number, valid: boolean, what: string): void => {
  if (element.tag !== tag || !valid) throw new Error(`not DER: ${what} is malformed`)
}

/** Dotted text of an OBJECT IDENTIFIER. */
export const readOid = (element: DerElement): string => {
  const { content } = element
  const last = content[content.length - 1]
  expect(element, derTag.oid, last !== undefined && last < 0x80 && content.length <= 64, 'object identifier')
  const arcs: number[] = []
  let arc = 0
  for (const octet of content) {
    arc = arc * 128 + (octet & 0x7f)
    if (octet >= 0x80) continue
    arcs.push(arc)
    arc = 0
  }
  const first = arcs[0] ?? 0
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - 40 * root, ...arcs.slice(1)].join('.')
}

/** Big-endian magnitude of a non-negative INTEGER, without leading zeros (empty for zero). */
export const readUnsigned = (element: DerElement): Uint8Array<ArrayBuffer> => {
  const { content } = element
  const [first = 0xff, second = 0xff] = content
  expect(element, derTag.integer, first < 0x80 && (first > 0 || content.length === 1 || second >= 0x80), 'integer')
  return first === 0 ? content.subarray(1) : content
}

/** A non-negative INTEGER below 2^31. */
export const readSmallInteger = (element: DerElement): number => {
  const magnitude = readUnsigned(element)
  expect(
    element,
    derTag.integer,
    magnitude.length < 4 || (magnitude.length === 4 && (magnitude[0] ?? 0) < 0x80),
    'integer',
  )
  return magnitude.reduce((value, octet) => value * 256 + octet, 0)
}

export const readBoolean = (element: DerElement): boolean => {
  const [value] = element.content
  expect(element, derTag.boolean, element.content.length === 1 && (value === 0 || value === 0xff), 'boolean')
  return value === 0xff
}

/** Octets of a BIT STRING of whole octets: a signature or a public key. */
export const readOctetAlignedBits = (element: DerElement): Uint8Array<ArrayBuffer> => {
  expect(element, derTag.bitString, element.content[0] === 0, 'bit string')
  return element.content.subarray(1)
}

/** The set bits of a named BIT STRING, numbered from the most significant bit of the first octet. */
export const readNamedBits = (element: DerElement): ReadonlySet<number> => {
  const { content } = element
  const unused = content[0] ?? 8
  expect(
    element,
    derTag.bitString,
    unused < 8 && (content.length > 1 || unused === 0) && content.length <= 9,
    'bit string',
  )
  const bits = new Set<number>()
  for (let bit = 0; bit < 8 * (content.length - 1) - unused; bit += 1) {
    if (((content[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0) bits.add(bit)
  }
  return bits
}

const timeForms = new Map([
  [derTag.utcTime as number, /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/],
  [derTag.generalizedTime as number, /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/],
])

/** Milliseconds since the Unix epoch of a UTCTime (years 1950 to 2049) or a GeneralizedTime, both to the second in UTC. */
export const readTime = (element: DerElement): number => {
  const parts = timeForms.get(element.tag)?.exec(readAscii(element.content))?.slice(1).map(Number)
  if (parts === undefined) throw new Error('not DER: time is malformed')
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
  const century = element.tag === derTag.generalizedTime ? 0 : year < 50 ? 2000 : 1900
  const time = new Date(0)
  time.setUTCFullYear(century + year, month - 1, day)
  time.setUTCHours(hour, minute, second)
  const exact = time.getUTCMonth() === month - 1 && time.getUTCDate() === day && time.getUTCHours() === hour
  if (!exact || minute > 59 || second > 59) throw new Error('not DER: time is malformed')
  return time.getTime()
}

/** Text of octets that must all be 7-bit. */
export const readAscii = (content: Uint8Array): string => {
  let text = ''
  for (const octet of content) {
    if (octet > 0x7f) throw new Error('not DER: text is not 7-bit')
    text += String.fromCharCode(octet)
  }
  return text
}

/** Whether two octet strings are the same. Not for secrets: it stops at the first difference. */
export const sameOctets = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((octet, at) => octet === b[at])
