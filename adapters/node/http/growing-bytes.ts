/** Bytes gathered piece by piece. */
export interface GrowingBytes {
  readonly length: number
  /** The memory that they take so far, in bytes: never more than twice their length and one kilobyte. */
  readonly reserved: number
  append(piece: Uint8Array): void
  toUint8Array(): Uint8Array<ArrayBuffer>
}

const SMALLEST_BLOCK = 1024
const LARGEST_BLOCK = 65_536

/**
 * An empty sequence of bytes. Memory is taken for what has arrived, never for what a client says will come.
 * Pieces are copied into blocks rather than kept: a body sent as a million one-byte chunks would otherwise hold a
 * million buffers.
 */
export function growingBytes(): GrowingBytes {
  const full: Uint8Array[] = []
  let block = new Uint8Array(0)
  let used = 0
  let length = 0
  let reserved = 0
  return {
    get length() {
      return length
    },
    get reserved() {
      return reserved
    },
    append(piece) {
      for (let taken = 0; taken < piece.length; ) {
        if (used === block.length) {
          if (used > 0) full.push(block)
          const wanted = Math.max(length, piece.length - taken, SMALLEST_BLOCK)
          block = new Uint8Array(Math.min(wanted, LARGEST_BLOCK))
          reserved += block.length
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
