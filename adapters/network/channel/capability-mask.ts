const MOST_BITS = 64

/** Capabilities by the numbers of their bits, as the bytes of a number, the highest first. */
export function encodeMask(bits: Iterable<number>): Uint8Array {
  let mask = 0n
  for (const bit of bits) mask |= 1n << BigInt(bit)
  const hex = mask.toString(16)
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return Uint8Array.from(even.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

/** The numbers of the bits that are set, ascending; bits beyond 64 are ignored. */
export function decodeMask(bytes: Uint8Array): readonly number[] {
  const mask = bytes.slice(-MOST_BITS / 8).reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)
  return Array.from({ length: MOST_BITS }, (_, bit) => bit).filter((bit) => ((mask >> BigInt(bit)) & 1n) === 1n)
}
