/** A unit of the channel: its type, its number, headers and a body. */
export interface Frame {
  readonly contentType: number
  readonly sequence: number
  readonly headers: ReadonlyMap<number, Uint8Array>
  /** In pieces, so that many receivers share one copy of a large body. */
  readonly body: readonly Uint8Array[]
}

/** How much a frame may hold, in bytes. */
export interface FrameLimits {
  readonly headers: number
  readonly body: number
}

/** Bytes before headers and body: magic, content type, sequence and the two lengths. */
export const FRAME_PREFIX_BYTES = 20
const MAGIC = 0x0c_09_06_03
const MOST_HEADERS = 256
/** Pieces below this share room while a frame is not complete. */
const ROOM_BYTES = 4096
/** The memory that a part of a frame may keep, as a multiple of its own bytes. */
const MOST_KEPT = 4
const NO_BYTES = new Uint8Array(0)

/** The bytes are malformed, or a frame exceeds its limits. */
export class FrameError extends Error {
  constructor(problem: string) {
    super(`malformed frame: ${problem}`)
    this.name = 'FrameError'
  }
}

/** The bytes of a frame: prefix with headers, then the pieces of the body without a copy. */
export function encodeFrame(frame: Frame): readonly Uint8Array[] {
  const head = Buffer.allocUnsafe(headBytes(frame))
  writeHead(frame, head, 0)
  return [head, ...frame.body]
}

/** How many bytes {@link encodeFrame} answers for a frame. */
export function lengthOfFrame(frame: Frame): number {
  return headBytes(frame) + bodyBytes(frame)
}

/** Writes the bytes of a frame to a position of a buffer that has room for them; answers the position behind them. */
export function writeFrame(frame: Frame, target: Buffer, at: number): number {
  let position = writeHead(frame, target, at)
  for (const piece of frame.body) {
    target.set(piece, position)
    position += piece.length
  }
  return position
}

function headBytes({ headers }: Frame): number {
  let bytes = FRAME_PREFIX_BYTES
  for (const value of headers.values()) bytes += 8 + value.length
  return bytes
}

function bodyBytes({ body }: Frame): number {
  let bytes = 0
  for (const { length } of body) bytes += length
  return bytes
}

function writeHead(frame: Frame, target: Buffer, at: number): number {
  target.writeUInt32LE(MAGIC, at)
  target.writeInt32LE(frame.contentType, at + 4)
  target.writeInt32LE(frame.sequence, at + 8)
  target.writeUInt32LE(bodyBytes(frame), at + 16)
  let position = at + FRAME_PREFIX_BYTES
  for (const [key, value] of frame.headers) {
    target.writeInt32LE(key, position)
    target.writeUInt32LE(value.length, position + 4)
    target.set(value, position + 8)
    position += 8 + value.length
  }
  target.writeUInt32LE(position - at - FRAME_PREFIX_BYTES, at + 12)
  return position
}

/** How many bytes a frame has, by its first {@link FRAME_PREFIX_BYTES}. */
export function frameBytes(prefix: Uint8Array): number {
  const view = new DataView(prefix.buffer, prefix.byteOffset, FRAME_PREFIX_BYTES)
  return FRAME_PREFIX_BYTES + view.getUint32(12, true) + view.getUint32(16, true)
}

/**
 * Cuts a stream of bytes into frames. Arrived bytes are kept as they came, and frames are parts of them: only a small part of a large piece
 * is copied. Room grows with the arriving bytes, and never beyond the limits of a frame.
 */
export class FrameReader {
  #limits: FrameLimits
  /** The bytes that arrived, in order. The bytes of the first one before `#at` were delivered. */
  #pieces: Uint8Array[] = []
  #at = 0
  #length = 0
  /** The last piece, where it was set aside here for small pieces that arrive one after the other. */
  #room: Uint8Array | undefined
  #roomFilled = 0

  constructor(limits: FrameLimits) {
    this.#limits = limits
  }

  /** Sets the limits of frames that were not delivered yet. */
  allow(limits: FrameLimits): void {
    this.#limits = limits
  }

  /** Adds bytes for {@link next} to cut frames from. They must not change afterwards. */
  add(bytes: Uint8Array): void {
    if (this.#length > 0 && bytes.length < ROOM_BYTES) this.#gather(bytes)
    else if (bytes.length > 0) {
      this.#closeRoom()
      // A subarray of a plain array costs less than that of a Buffer.
      this.#pieces.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))
    }
    this.#length += bytes.length
  }

  /** The next frame; undefined while it is not complete. Throws `FrameError`: the stream cannot be used after that. */
  next(): Frame | undefined {
    const sizes = this.#sizes()
    if (sizes === undefined || this.#length < sizes.head + sizes.body) return undefined
    const { head, body } = sizes
    const first = this.#pieces[0]
    const isWhole = first !== undefined && first.length - this.#at >= head + body
    if (!isWhole) return frameOf(this.#takeTogether(head), this.#takePieces(body))
    const bytes = this.#takePart(head + body)
    return frameOf(bytes, body === 0 ? [] : [bytes.subarray(head)], head)
  }

  /** Whether {@link next} answers a frame. Throws as it does. */
  get hasFrame(): boolean {
    const sizes = this.#sizes()
    return sizes !== undefined && this.#length >= sizes.head + sizes.body
  }

  /** Adds bytes; answers the frames that they complete. Throws as {@link next}. */
  push(bytes: Uint8Array): readonly Frame[] {
    this.add(bytes)
    const frames: Frame[] = []
    for (let frame = this.next(); frame !== undefined; frame = this.next()) frames.push(frame)
    return frames
  }

  /** Ends the room behind the bytes that are in it: another piece follows. */
  #closeRoom(): void {
    if (this.#room === undefined) return
    this.#pieces[this.#pieces.length - 1] = this.#room.subarray(0, this.#roomFilled)
    this.#room = undefined
  }

  /** Small pieces share room: a peer that sends single bytes must not cost an object for each. */
  #gather(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#room === undefined || this.#roomFilled === this.#room.length) {
        this.#room = new Uint8Array(ROOM_BYTES)
        this.#roomFilled = 0
        this.#pieces.push(this.#room)
      }
      const part = bytes.subarray(at, at + this.#room.length - this.#roomFilled)
      this.#room.set(part, this.#roomFilled)
      this.#roomFilled += part.length
      at += part.length
    }
  }

  /** The bytes of the next frame: prefix and headers, and body. Undefined until they are known. */
  #sizes(): { readonly head: number; readonly body: number } | undefined {
    if (this.#length < FRAME_PREFIX_BYTES) return undefined
    const first = this.#pieces[0] ?? NO_BYTES
    const isHere = first.length - this.#at >= FRAME_PREFIX_BYTES
    const bytes = isHere ? first : this.#copied(FRAME_PREFIX_BYTES)
    const at = isHere ? this.#at : 0
    if (uint32At(bytes, at) !== MAGIC) throw new FrameError('wrong magic')
    const headers = uint32At(bytes, at + 12)
    const body = uint32At(bytes, at + 16)
    if (headers > this.#limits.headers) throw new FrameError(`${headers} bytes of headers`)
    if (body > this.#limits.body) throw new FrameError(`${body} bytes of body`)
    return { head: FRAME_PREFIX_BYTES + headers, body }
  }

  /** The next bytes, which stay. */
  #copied(length: number): Uint8Array {
    const copy = new Uint8Array(length)
    let [at, filled] = [this.#at, 0]
    for (const piece of this.#pieces) {
      const part = piece.subarray(at, at + length - filled)
      copy.set(part, filled)
      filled += part.length
      at = 0
      if (filled === length) break
    }
    return copy
  }

  /** Takes the next bytes in one piece. */
  #takeTogether(length: number): Uint8Array {
    const first = this.#pieces[0]
    if (first !== undefined && first.length - this.#at >= length) return this.#takePart(length)
    const copy = this.#copied(length)
    this.#takePieces(length)
    return copy
  }

  /** Takes the next bytes as they came. */
  #takePieces(length: number): readonly Uint8Array[] {
    const taken: Uint8Array[] = []
    for (let left = length; left > 0; ) {
      const part = this.#takePart(left)
      taken.push(part)
      left -= part.length
    }
    return taken
  }

  /** Takes the next bytes, as many as the first piece has. */
  #takePart(most: number): Uint8Array {
    const piece = this.#pieces[0] ?? NO_BYTES
    const end = Math.min(this.#at + most, piece.length)
    // A small part would keep the memory of a large piece for as long as its frame lives.
    const isMost = (end - this.#at) * MOST_KEPT >= piece.length
    const part = isMost ? piece.subarray(this.#at, end) : piece.slice(this.#at, end)
    this.#length -= part.length
    this.#at = end
    if (this.#length === 0) {
      this.#pieces = []
      this.#room = undefined
      this.#at = 0
    } else if (end === piece.length) {
      this.#pieces.shift()
      this.#at = 0
    }
    return part
  }
}

function uint32At(bytes: Uint8Array, at: number): number {
  const high = (bytes[at + 3] ?? 0) << 24
  return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | high) >>> 0
}

/** A frame of its prefix with headers, whose end is given where more follows, and of its body. */
function frameOf(head: Uint8Array, body: readonly Uint8Array[], end = head.length): Frame {
  const headers = new Map<number, Uint8Array>()
  for (let position = FRAME_PREFIX_BYTES; position < end; ) {
    if (position + 8 > end) throw new FrameError('a header ends too early')
    const key = uint32At(head, position) | 0
    const next = position + 8 + uint32At(head, position + 4)
    if (next > end) throw new FrameError('a header ends too early')
    if (headers.size >= MOST_HEADERS) throw new FrameError('too many headers')
    headers.set(key, head.subarray(position + 8, next))
    position = next
  }
  return { contentType: uint32At(head, 4) | 0, sequence: uint32At(head, 8) | 0, headers, body }
}
