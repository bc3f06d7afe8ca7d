import { concatenated } from '../../../domain/encoding/concatenated.ts'

/** Tags of the encoding: those of universal types, and of the few context-specific ones that are written here. */
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
