import { DER_TAGS } from './write-der.ts'

/** One element of the distinguished encoding (X.690), as it stands in what it was read from. */
export interface DerElement {
  readonly tag: number
  /** The element whole. */
  readonly whole: Uint8Array<ArrayBuffer>
  readonly content: Uint8Array<ArrayBuffer>
}

/** Where an element is: its tag, and where its content begins and ends. */
interface Place {
  readonly tag: number
  readonly begin: number
  readonly end: number
}

/** Several times what real certificates have; the time that reading takes grows with the number of elements. */
export const DER_LIMITS = { maxDepth: 32, maxNodes: 1000 } as const

const HIGH_BIT = 0x80
const CONSTRUCTED = 0x20
const CLASS = 0xc0
const HIGH_TAG = 0x1f

/**
 * The elements that follow one another in `octets`. Throws unless each has a tag of one octet and a length that is definite, as
 * short as can be and within `octets`.
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

/** The elements within `octets`, which is one sequence. Throws as above, and when it is something else. */
export function readSequence(octets: Uint8Array<ArrayBuffer>): DerElement[] {
  const [sequence, ...others] = readElements(octets)
  if (sequence?.tag !== DER_TAGS.sequence || others.length > 0) throw malformed()
  return readElements(sequence.content)
}

/**
 * Whether `der` is one element in the distinguished encoding, at every depth of what is constructed: lengths as above, numbers,
 * times and truth values in their only form, and texts in one piece.
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

/** Throws for a text in pieces: of the universal types only sequences and sets are made of others. */
function isConstructed({ tag }: Place): boolean {
  if ((tag & CONSTRUCTED) === 0) return false
  if ((tag & CLASS) === 0 && tag !== DER_TAGS.sequence && tag !== DER_TAGS.set) throw malformed()
  return true
}

const ZERO_TO_NINE = { first: 0x30, last: 0x39 }
const Z = 0x5a

/** Whether a universal value is in its only form; of others nothing is known. */
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
      // The first octet says how many bits of the last one are unused, and those are zero.
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

/** Each number is written in as few octets as can be, of which the last alone has no high bit. */
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
  // Nothing that is read here is longer than three octets can say.
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
