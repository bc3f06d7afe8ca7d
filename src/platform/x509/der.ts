import { concatenated, toHex } from '../../base/bytes.ts'

/** Tags of the encoding: universal types, and the few context-specific types that are written here. */
export const DER_TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  generalString: 0x1b,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** Context-specific 6, primitive: the URI of a general name. */
  uri: 0x86,
  /** Context-specific 0, constructed. */
  context0: 0xa0,
  /** Context-specific 3, constructed. */
  context3: 0xa3,
} as const

/** An element in the distinguished encoding (X.690): tag, the shortest form of the length, and the contents in order. */
export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = contents.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return concatenated([Uint8Array.of(tag, ...lengthOctets(length)), ...contents])
}

function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return [0x80 | octets.length, ...octets]
}

/** An element of the distinguished encoding (X.690), as a part of its source. */
export interface DerElement {
  readonly tag: number
  /** The whole element. */
  readonly whole: Uint8Array<ArrayBuffer>
  readonly content: Uint8Array<ArrayBuffer>
}

/** The place of an element: its tag, and the bounds of its content. */
interface Place {
  readonly tag: number
  readonly begin: number
  readonly end: number
}

/** Several times the size of real certificates; the time to read grows with the number of elements. */
export const DER_LIMITS = { maxDepth: 32, maxNodes: 1000 } as const

const HIGH_BIT = 0x80
const CONSTRUCTED = 0x20
const CLASS = 0xc0
const HIGH_TAG = 0x1f

/**
 * The consecutive elements in `octets`. Throws unless each has a tag of one octet and a definite length in its shortest form, within
 * `octets`.
 */
export function readElements(octets: Uint8Array<ArrayBuffer>): DerElement[] {
  const elements: DerElement[] = []
  for (let at = 0; at < octets.length; ) {
    const { tag, begin, end } = placeAt(octets, at, octets.length)
    elements.push({ tag, whole: octets.subarray(at, end), content: octets.subarray(begin, end) })
    at = end
  }
  return elements
}

/** The elements of the single sequence in `octets`. Throws as above, and for other contents. */
export function readSequence(octets: Uint8Array<ArrayBuffer>): DerElement[] {
  const [sequence, ...others] = readElements(octets)
  if (sequence?.tag !== DER_TAGS.sequence || others.length > 0) throw malformed()
  return readElements(sequence.content)
}

/**
 * Reports whether `der` is one element in the distinguished encoding, at every depth: lengths as above, numbers, times and truth values in
 * their only form, and texts in one piece.
 */
export function isDistinguished(der: Uint8Array<ArrayBuffer>): boolean {
  let nodes = 0
  const areDistinguished = (from: number, limit: number, depth: number): boolean => {
    for (let at = from; at < limit; ) {
      const place = placeAt(der, at, limit)
      nodes += 1
      if (nodes > DER_LIMITS.maxNodes || depth > DER_LIMITS.maxDepth) return false
      const isGood = isConstructed(place) ? areDistinguished(place.begin, place.end, depth + 1) : isValue(der, place)
      if (!isGood || (depth === 1 && place.end !== limit)) return false
      at = place.end
    }
    return true
  }
  try {
    return der.length > 0 && areDistinguished(0, der.length, 1)
  } catch {
    return false
  }
}

/** Throws unless `der` is {@link isDistinguished}. */
export function requireDistinguished(der: Uint8Array<ArrayBuffer>): void {
  if (!isDistinguished(der)) throw malformed()
}

/** Throws for a text in pieces: among universal types, only sequences and sets contain other elements. */
function isConstructed({ tag }: Place): boolean {
  if ((tag & CONSTRUCTED) === 0) return false
  if ((tag & CLASS) === 0 && tag !== DER_TAGS.sequence && tag !== DER_TAGS.set) throw malformed()
  return true
}

const ZERO_TO_NINE = { first: 0x30, last: 0x39 }
const Z = 0x5a

/** Reports whether a universal value is in its only form; other values always pass. */
function isValue(octets: Uint8Array, { tag, begin, end }: Place): boolean {
  const length = end - begin
  const first = octets[begin] ?? 0
  switch (tag) {
    case DER_TAGS.boolean:
      return length === 1 && (first === 0 || first === 0xff)
    case DER_TAGS.integer:
    case DER_TAGS.enumerated: {
      const isNextHigh = (octets[begin + 1] ?? 0) >= HIGH_BIT
      return length === 1 || (length > 1 && !(first === (isNextHigh ? 0xff : 0)))
    }
    case DER_TAGS.bitString: {
      // The first octet counts the unused bits of the last octet, which must be zero.
      const last = length > 1 ? (octets[end - 1] ?? 0) : 0
      return length > 0 && first < 8 && (first === 0 || length > 1) && (last & ((1 << first) - 1)) === 0
    }
    case DER_TAGS.null:
      return length === 0
    case DER_TAGS.objectIdentifier:
      return areArcs(octets, begin, end)
    case DER_TAGS.utcTime:
      return length === 13 && isTime(octets, begin, end)
    case DER_TAGS.generalizedTime:
      return length === 15 && isTime(octets, begin, end)
    case DER_TAGS.octetString:
    case DER_TAGS.utf8String:
    case DER_TAGS.numericString:
    case DER_TAGS.printableString:
    case DER_TAGS.teletexString:
    case DER_TAGS.ia5String:
    case DER_TAGS.visibleString:
    case DER_TAGS.generalString:
      return true
    case DER_TAGS.universalString:
      return length % 4 === 0
    case DER_TAGS.bmpString:
      return length % 2 === 0
    default:
      return (tag & CLASS) !== 0
  }
}

/** Each number takes as few octets as possible; all its octets but the last have the high bit set. */
function areArcs(octets: Uint8Array, begin: number, end: number): boolean {
  let isWithin = false
  for (let at = begin; at < end; at += 1) {
    const octet = octets[at] ?? 0
    if (!isWithin && octet === HIGH_BIT) return false
    isWithin = octet >= HIGH_BIT
  }
  return end > begin && !isWithin
}

/** Digits to the second, in UTC. */
function isTime(octets: Uint8Array, begin: number, end: number): boolean {
  for (let at = begin; at < end - 1; at += 1) {
    const octet = octets[at] ?? 0
    if (octet < ZERO_TO_NINE.first || octet > ZERO_TO_NINE.last) return false
  }
  return octets[end - 1] === Z
}

function placeAt(octets: Uint8Array, at: number, limit: number): Place {
  const tag = octets[at] ?? 0
  const first = octets[at + 1] ?? 0
  // Three octets suffice for the length of every element that is read here.
  const size = first < HIGH_BIT ? 0 : first - HIGH_BIT
  const begin = at + 2 + size
  let length = first
  if (first >= HIGH_BIT) {
    length = 0
    for (let octet = at + 2; octet < begin; octet += 1) length = length * 256 + (octets[octet] ?? 0)
    if (size === 0 || size > 3 || length < HIGH_BIT || length < 256 ** (size - 1)) throw malformed()
  }
  const end = begin + length
  if (tag === 0 || (tag & HIGH_TAG) === HIGH_TAG || begin > limit || end > limit) throw malformed()
  return { tag, begin, end }
}

function malformed(): Error {
  return new Error('not the distinguished encoding')
}

/** A signed structure: a certificate or a signing request. */
export interface Signed {
  /** The bytes that the signature covers, DER. */
  readonly body: Uint8Array<ArrayBuffer>
  /** The algorithm of the signature as encoded, DER, and its object identifier in hexadecimal. */
  readonly algorithm: Uint8Array<ArrayBuffer>
  readonly algorithmId: string
  readonly signature: Uint8Array<ArrayBuffer>
}

/**
 * Parses a signed structure. Throws unless it is in the distinguished encoding and consists only of a body, an algorithm and a signature of
 * whole octets: the signature covers only the body.
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
