import { FrameError } from './frame.ts'

type Headers = ReadonlyMap<number, Uint8Array>

const MOST_ENTRIES = 128
/** As long as the data that a dialer may send along for the application. */
const MOST_ENTRY_BYTES = 65_536
const ENCODER = new TextEncoder()
const DECODER = new TextDecoder()

/** The bytes of a text in UTF-8, for a header or for the body of a message. */
export function textBytes(value: string): Uint8Array {
  return ENCODER.encode(value)
}

export function boolHeader(value: boolean): Uint8Array {
  return Uint8Array.of(value ? 1 : 0)
}

export function uint32Header(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

export function uint64Header(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

/** A map of numbers to bytes; nothing at all when it is empty. */
export function bytesMapHeader(entries: ReadonlyMap<number, Uint8Array>): Uint8Array {
  if (entries.size === 0) return new Uint8Array(0)
  return joined([
    uint32Header(entries.size),
    ...[...entries].flatMap(([key, value]) => [uint32Header(key), uint32Header(value.length), value]),
  ])
}

/** A map of texts to texts; nothing at all when it is empty. */
export function textMapHeader(entries: ReadonlyMap<string, string>): Uint8Array {
  if (entries.size === 0) return new Uint8Array(0)
  const texts = [...entries].flatMap((entry) => entry.map(textBytes))
  return joined([uint32Header(entries.size), ...texts.flatMap((value) => [uint32Header(value.length), value])])
}

/** Reads the text of a header; undefined when it is missing, as with the others. */
export function readText(headers: Headers, key: number): string | undefined {
  const value = headers.get(key)
  return value && DECODER.decode(value)
}

export function readBool(headers: Headers, key: number): boolean | undefined {
  const value = headers.get(key)
  return value && value[0] === 1
}

/** Reads a number of one to four bytes, as it is meant by its sender. */
export function readUint32(headers: Headers, key: number): number | undefined {
  const value = headers.get(key)
  if (value === undefined) return undefined
  let number = 0
  for (let at = Math.min(value.length, 4) - 1; at >= 0; at -= 1) number = number * 256 + (value[at] ?? 0)
  return number
}

/** Throws a `FrameError` for an invalid list, or a list beyond 128 entries of 65,536 bytes; so do the functions below. */
export function readTextList(headers: Headers, key: number): readonly string[] {
  const reader = new EntryReader(headers.get(key))
  return reader.entries(() => DECODER.decode(reader.bytes()))
}

export function readBytesMap(headers: Headers, key: number): ReadonlyMap<number, Uint8Array> {
  const reader = new EntryReader(headers.get(key))
  return new Map(reader.entries(() => [reader.number(), reader.bytes()] as const))
}

export function readTextMap(headers: Headers, key: number): ReadonlyMap<string, string> {
  const reader = new EntryReader(headers.get(key))
  return new Map(reader.entries(() => [DECODER.decode(reader.bytes()), DECODER.decode(reader.bytes())] as const))
}

class EntryReader {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array | undefined) {
    this.#bytes = bytes ?? new Uint8Array(0)
  }

  entries<T>(read: () => T): readonly T[] {
    const count = this.#bytes.length === 0 ? 0 : this.number()
    if (count > MOST_ENTRIES) throw new FrameError(`a header with ${count} entries`)
    return Array.from({ length: count }, read)
  }

  number(): number {
    const { buffer, byteOffset } = this.#take(4)
    return new DataView(buffer, byteOffset, 4).getUint32(0, true)
  }

  bytes(): Uint8Array {
    const length = this.number()
    if (length > MOST_ENTRY_BYTES) throw new FrameError(`a header with an entry of ${length} bytes`)
    return this.#take(length)
  }

  #take(length: number): Uint8Array {
    const end = this.#position + length
    if (end > this.#bytes.length) throw new FrameError('a header ends too early')
    const taken = this.#bytes.slice(this.#position, end)
    this.#position = end
    return taken
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let position = 0
  for (const piece of pieces) {
    all.set(piece, position)
    position += piece.length
  }
  return all
}
