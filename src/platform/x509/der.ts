/**
 * One DER element. The reader accepts the distinguished encoding only: definite, minimal lengths and low tag numbers.
 * Content is a view, parsed when somebody asks for it, so that nesting costs an attacker's input nothing but its size.
 */
export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array<ArrayBuffer>
  /** Tag, length and content: what a signature covers and what is copied into other structures. */
  readonly encoded: Uint8Array<ArrayBuffer>
}

export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

const refuse = (problem: string): never => {
  throw new Error(`not DER: ${problem}`)
}

const readElement = (bytes: Uint8Array<ArrayBuffer>, start: number): DerElement => {
  const tag = bytes[start] ?? refuse('truncated')
  if ((tag & 0x1f) === 0x1f) refuse('high tag number')
  let length = bytes[start + 1] ?? refuse('truncated')
  let contentStart = start + 2
  if (length >= 0x80) {
    const octets = length & 0x7f
    if (octets === 0 || octets > 3) refuse('indefinite or oversized length')
    length = 0
    for (const octet of bytes.subarray(contentStart, contentStart + octets)) length = length * 256 + octet
    if (length < 0x80 || length < 256 ** (octets - 1)) refuse('length is not minimal')
    contentStart += octets
  }
  const end = contentStart + length
  if (end > bytes.length) refuse('truncated')
  return { tag, content: bytes.subarray(contentStart, end), encoded: bytes.subarray(start, end) }
}

/** Reads the one element that `bytes` consists of. Throws when it is not DER, not of the tag, or has a tail. */
export const readDer = (bytes: Uint8Array<ArrayBuffer>, tag: number = derTag.sequence): DerElement => {
  const element = readElement(bytes, 0)
  if (element.encoded.length !== bytes.length) refuse('data after the end')
  if (element.tag !== tag) refuse('unexpected tag')
  return element
}

/** The elements inside a constructed element, in order. */
export const elementsOf = (element: DerElement): DerElement[] => {
  if ((element.tag & 0x20) === 0) refuse('not constructed')
  const elements: DerElement[] = []
  for (let at = 0; at < element.content.length; ) {
    const next = readElement(element.content, at)
    elements.push(next)
    at += next.encoded.length
  }
  return elements
}

/** Walks the fields of a SEQUENCE that has optional ones; every field must be taken before `end`. */
export interface FieldReader {
  take(tag: number): DerElement
  takeAny(): DerElement
  takeIf(tag: number): DerElement | undefined
  end(): void
}

/** Opens a SEQUENCE, or another constructed element of the given tag, field by field. */
export const fieldsOf = (element: DerElement, tag: number = derTag.sequence): FieldReader => {
  if (element.tag !== tag) refuse('unexpected tag')
  const elements = elementsOf(element)
  let at = 0
  const takeIf = (wanted: number) => {
    const next = elements[at]
    if (next?.tag !== wanted) return undefined
    at += 1
    return next
  }
  return {
    take: (wanted) => takeIf(wanted) ?? refuse('a field is missing'),
    takeAny: () => elements[at++] ?? refuse('a field is missing'),
    takeIf,
    end: () => {
      if (at < elements.length) refuse('unknown field')
    },
  }
}
