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
/** The sizes of a frame whose prefix has not arrived yet. */
const INCOMPLETE = { headerBytes: 0, total: Number.POSITIVE_INFINITY }
const MAGIC = 0x0c_09_06_03
const MOST_HEADERS = 256
const LEAST_ROOM = 4096
/** Room beyond this is released once a large frame has been delivered. */
const MOST_IDLE_ROOM = 65_536

/** The bytes are malformed, or a frame exceeds its limits. */
export class FrameError extends Error {
  constructor(problem: string) {
    super(`malformed frame: ${problem}`)
    this.name = 'FrameError'
  }
}

/** The bytes of a frame: prefix with headers, then the pieces of the body without a copy. */
export function encodeFrame({ contentType, sequence, headers, body }: Frame): readonly Uint8Array[] {
  const headerBytes = [...headers.values()].reduce((sum, { length }) => sum + 8 + length, 0)
  const bodyBytes = body.reduce((sum, { length }) => sum + length, 0)
  const head = new Uint8Array(FRAME_PREFIX_BYTES + headerBytes)
  const view = new DataView(head.buffer)
  view.setUint32(0, MAGIC, true)
  view.setInt32(4, contentType, true)
  view.setInt32(8, sequence, true)
  view.setUint32(12, headerBytes, true)
  view.setUint32(16, bodyBytes, true)
  let position = FRAME_PREFIX_BYTES
  for (const [key, value] of headers) {
    view.setInt32(position, key, true)
    view.setUint32(position + 4, value.length, true)
    head.set(value, position + 8)
    position += 8 + value.length
  }
  return [head, ...body]
}

/** How many bytes a frame has, by its first {@link FRAME_PREFIX_BYTES}. */
export function frameBytes(prefix: Uint8Array): number {
  const view = new DataView(prefix.buffer, prefix.byteOffset, FRAME_PREFIX_BYTES)
  return FRAME_PREFIX_BYTES + view.getUint32(12, true) + view.getUint32(16, true)
}

/** Cuts a stream of bytes into frames. Room grows with the arriving bytes, and never beyond the limits of a frame. */
export class FrameReader {
  #limits: FrameLimits
  #room = new Uint8Array(LEAST_ROOM)
  /** The bytes before this position were delivered. */
  #start = 0
  #length = 0

  constructor(limits: FrameLimits) {
    this.#limits = limits
  }

  /** Sets the limits of frames that were not delivered yet. */
  allow(limits: FrameLimits): void {
    this.#limits = limits
  }

  /** Adds bytes for {@link next} to cut frames from. */
  add(bytes: Uint8Array): void {
    this.#giveBack()
    this.#keep(bytes)
  }

  /** The next frame; undefined while it is not complete. Throws `FrameError`: the stream cannot be used after that. */
  next(): Frame | undefined {
    const { stream, headerBytes, total } = this.#nextStart()
    if (stream.length < total) {
      this.#giveBack()
      return undefined
    }
    this.#start += total
    return frameOf(stream.subarray(0, total), headerBytes)
  }

  /** Whether {@link next} answers a frame. Throws as it does. */
  get hasFrame(): boolean {
    const { stream, total } = this.#nextStart()
    return stream.length >= total
  }

  /** Adds bytes; answers the frames that they complete. Throws as {@link next}. */
  push(bytes: Uint8Array): readonly Frame[] {
    this.add(bytes)
    const frames: Frame[] = []
    for (let frame = this.next(); frame !== undefined; frame = this.next()) frames.push(frame)
    return frames
  }

  /** Frees the room of delivered frames. */
  #giveBack(): void {
    if (this.#start === 0) return
    this.#room.copyWithin(0, this.#start, this.#length)
    this.#length -= this.#start
    this.#start = 0
    if (this.#length === 0 && this.#room.length > MOST_IDLE_ROOM) this.#room = new Uint8Array(LEAST_ROOM)
  }

  #nextStart() {
    const stream = this.#room.subarray(this.#start, this.#length)
    return { stream, ...(stream.length < FRAME_PREFIX_BYTES ? INCOMPLETE : this.#prefixOf(stream)) }
  }

  #keep(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length
    if (needed > this.#room.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.#room.length))
      grown.set(this.#room.subarray(0, this.#length))
      this.#room = grown
    }
    this.#room.set(bytes, this.#length)
    this.#length = needed
  }

  #prefixOf(stream: Uint8Array): { readonly headerBytes: number; readonly total: number } {
    const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength)
    if (view.getUint32(0, true) !== MAGIC) throw new FrameError('wrong magic')
    const [headerBytes, bodyBytes] = [view.getUint32(12, true), view.getUint32(16, true)]
    if (headerBytes > this.#limits.headers) throw new FrameError(`${headerBytes} bytes of headers`)
    if (bodyBytes > this.#limits.body) throw new FrameError(`${bodyBytes} bytes of body`)
    return { headerBytes, total: FRAME_PREFIX_BYTES + headerBytes + bodyBytes }
  }
}

function frameOf(bytes: Uint8Array, headerBytes: number): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const bodyAt = FRAME_PREFIX_BYTES + headerBytes
  const headers = new Map<number, Uint8Array>()
  for (let position = FRAME_PREFIX_BYTES; position < bodyAt; ) {
    if (position + 8 > bodyAt) throw new FrameError('a header ends too early')
    const key = view.getInt32(position, true)
    const end = position + 8 + view.getUint32(position + 4, true)
    if (end > bodyAt) throw new FrameError('a header ends too early')
    if (headers.size >= MOST_HEADERS) throw new FrameError('too many headers')
    headers.set(key, bytes.slice(position + 8, end))
    position = end
  }
  return {
    contentType: view.getInt32(4, true),
    sequence: view.getInt32(8, true),
    headers,
    body: bodyAt === bytes.length ? [] : [bytes.slice(bodyAt)],
  }
}
