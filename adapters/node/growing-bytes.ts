/** Bytes gathered piece by piece. */
export interface GrowingBytes {
  readonly length: number
  append(piece: Uint8Array): void
  toUint8Array(): Uint8Array<ArrayBuffer>
}

const smallestBlock = 1024
const largestBlock = 65_536

/**
 * An empty sequence of bytes with room for about `expected` of them; the expectation is a client's claim, so it
 * reserves no more than 64 KiB.
 * Pieces are copied into blocks rather than kept: a body sent as a million one-byte chunks would otherwise hold a
 * million buffers.
 */
export function growingBytes(expected: number): GrowingBytes {
  const full: Uint8Array[] = []
  let block = new Uint8Array(Math.min(Math.max(expected, smallestBlock), largestBlock))
  let used = 0
  let length = 0
  return {
    get length() {
      return length
    },
    append(piece) {
      for (let taken = 0; taken < piece.length; ) {
        if (used === block.length) {
          full.push(block)
          block = new Uint8Array(largestBlock)
          used = 0
        }
        const part = piece.subarray(taken, taken + block.length - used)
        block.set(part, used)
        used += part.length
        taken += part.length
        length += part.length
      }
    },
    toUint8Array() {
      if (full.length === 0) return block.subarray(0, used)
      const bytes = new Uint8Array(length)
      let offset = 0
      for (const each of full) {
        bytes.set(each, offset)
        offset += each.length
      }
      bytes.set(block.subarray(0, used), offset)
      return bytes
    },
  }
}
