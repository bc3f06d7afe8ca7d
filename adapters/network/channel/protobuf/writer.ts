const LEAST_ROOM = 64
const UTF8 = new TextEncoder()
/** Bytes of the longest text whose length is one byte. */
const SHORT = 0x7f

/** Collects the bytes of a message in a buffer that grows by doubling. */
export class ProtobufWriter {
  #bytes = new Uint8Array(LEAST_ROOM)
  #length = 0

  /** The bytes so far, as a copy of their own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  tag(field: number, wireType: number): void {
    this.varint(field * 8 + wireType)
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(10)
    let left = value
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#bytes[this.#length++] = (left % 0x80) | 0x80
    this.#bytes[this.#length++] = left
  }

  /** Any 64 bits, negative numbers as their two's complement. */
  bigVarint(value: bigint): void {
    this.#reserve(10)
    let left = BigInt.asUintN(64, value)
    for (; left >= 0x80n; left >>= 7n) this.#bytes[this.#length++] = Number(left & 0x7fn) | 0x80
    this.#bytes[this.#length++] = Number(left)
  }

  double(value: number): void {
    this.#reserve(8)
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true)
    this.#length += 8
  }

  /** Bytes with their length before them. */
  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
  }

  text(value: string): void {
    if (value.length > SHORT || !this.#shortAscii(value)) this.bytes(UTF8.encode(value))
  }

  /** A message inside of this one, with its length before it. */
  nested(write: (writer: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter()
    write(inner)
    this.bytes(inner.#bytes.subarray(0, inner.#length))
  }

  /** Ids and names are short and plain: for them an encoder costs more than it does. False, and nothing is written, for others. */
  #shortAscii(value: string): boolean {
    this.#reserve(value.length + 1)
    const start = this.#length + 1
    for (let at = 0; at < value.length; at += 1) {
      const code = value.charCodeAt(at)
      if (code >= 0x80) return false
      this.#bytes[start + at] = code
    }
    this.#bytes[this.#length] = value.length
    this.#length = start + value.length
    return true
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}
