/** The bytes are no message of the expected type. */
export class ProtobufError extends Error {
  constructor(problem: string) {
    super(`malformed message: ${problem}`)
    this.name = 'ProtobufError'
  }
}

/** How many repeated members may a message hold altogether: a few bytes each would become objects of a hundred. */
export const MOST_MEMBERS = 200_000
const MOST_VARINT_BYTES = 10
/** The wire type of texts, bytes, messages and packed numbers: their length stands before them. */
export const BYTES_WIRE_TYPE = 2
const UTF8 = new TextDecoder()

/** The budget that all parts of one message share. */
interface Budget {
  members: number
}

/** Reads the bytes of a message from front to back. For any bytes it ends or throws a {@link ProtobufError}. */
export class ProtobufReader {
  readonly #bytes: Uint8Array
  readonly #budget: Budget
  #position = 0

  constructor(bytes: Uint8Array, budget: Budget = { members: MOST_MEMBERS }) {
    this.#bytes = bytes
    this.#budget = budget
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length
  }

  /** Counts one repeated member. */
  member(): void {
    this.#budget.members -= 1
    if (this.#budget.members < 0) throw new ProtobufError('too many members')
  }

  /** The number and the wire type of the next field. */
  tag(): { readonly number: number; readonly wireType: number } {
    const tag = this.varint()
    return { number: Math.floor(tag / 8), wireType: tag % 8 }
  }

  /** Unsigned 64 bits. */
  bigVarint(): bigint {
    let value = 0n
    for (let count = 0; count < MOST_VARINT_BYTES; count += 1) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << BigInt(7 * count)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new ProtobufError('a number without end')
  }

  /** Unsigned; a value beyond the safe integers becomes the greatest safe integer. */
  varint(): number {
    let value = 0
    for (let count = 0; count < MOST_VARINT_BYTES; count += 1) {
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** (7 * count)
      if (byte < 0x80) return Math.min(value, Number.MAX_SAFE_INTEGER)
    }
    throw new ProtobufError('a number without end')
  }

  double(): number {
    const { buffer, byteOffset } = this.#take(8)
    return new DataView(buffer, byteOffset, 8).getFloat64(0, true)
  }

  /** Bytes with their length before them, not copied. */
  bytes(): Uint8Array {
    return this.#take(this.varint())
  }

  text(): string {
    return UTF8.decode(this.bytes())
  }

  /** A reader of the next message, which has its length before it. */
  nested(): ProtobufReader {
    return new ProtobufReader(this.bytes(), this.#budget)
  }

  /** Skips an unknown field. */
  skip(wireType: number): void {
    if (wireType === 0) this.varint()
    else if (wireType === 1) this.#take(8)
    else if (wireType === BYTES_WIRE_TYPE) this.bytes()
    else if (wireType === 5) this.#take(4)
    else throw new ProtobufError(`wire type ${wireType}`)
  }

  #byte(): number {
    const byte = this.#bytes[this.#position]
    if (byte === undefined) throw new ProtobufError('it ends too early')
    this.#position += 1
    return byte
  }

  #take(length: number): Uint8Array {
    const end = this.#position + length
    if (end > this.#bytes.length) throw new ProtobufError('it ends too early')
    const taken = this.#bytes.subarray(this.#position, end)
    this.#position = end
    return taken
  }
}

/**
 * The bytes of each value of a field, one after the other: a list that is too long for one message is read in steps. Throws a
 * {@link ProtobufError} at the first malformed one.
 */
export function* valuesOf(bytes: Uint8Array, field: number): Generator<Uint8Array> {
  for (const reader = new ProtobufReader(bytes); !reader.isAtEnd; ) {
    const { number, wireType } = reader.tag()
    if (number === field && wireType === BYTES_WIRE_TYPE) yield reader.bytes()
    else reader.skip(wireType)
  }
}
