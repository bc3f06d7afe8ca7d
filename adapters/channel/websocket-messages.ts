/** The kinds of WebSocket frames (RFC 6455, section 5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Hears of the parts of messages as they arrive. */
export interface MessageParts {
  /** Bytes of binary messages, in order. */
  onBytes(bytes: Uint8Array): void
  onPing(payload: Uint8Array): void
  /** The client ends the conversation. */
  onClose(): void
}

/** Bytes that no client may send; `status` is the one that tells it so when the socket is closed. */
export class ProtocolError extends Error {
  readonly status: number

  constructor(status: number, problem: string) {
    super(`malformed websocket message: ${problem}`)
    this.name = 'ProtocolError'
    this.status = status
  }
}

const PROTOCOL_ERROR = 1002
const UNSUPPORTED_DATA = 1003
/** The most that a frame takes before its payload: two bytes, a length of eight and a mask of four. */
const MOST_HEADER_BYTES = 14
const LONGEST_CONTROL = 125
const LENGTH_OF_16_BITS = 126
const LENGTH_OF_64_BITS = 127

/** A frame whose payload is arriving. */
interface Arriving {
  readonly opcode: number
  readonly mask: Uint8Array
  /** Bytes of the payload that are to come, and that came. */
  left: number
  taken: number
  /** The payload of a control frame, which is told whole. */
  readonly control: Uint8Array | undefined
}

/**
 * Takes the messages of a client apart as their bytes arrive. Nothing but a header and a control frame is kept, so that the
 * length of a message costs no memory here.
 */
export class IncomingMessages {
  readonly #parts: MessageParts
  readonly #header = new Uint8Array(MOST_HEADER_BYTES)
  #headerLength = 0
  #arriving: Arriving | undefined
  /** A message is to be continued. */
  #isUnfinished = false

  constructor(parts: MessageParts) {
    this.#parts = parts
  }

  /** Takes bytes of the socket. Throws {@link ProtocolError}. */
  push(bytes: Uint8Array): void {
    let position = 0
    while (position < bytes.length) {
      if (this.#arriving === undefined) {
        this.#header[this.#headerLength] = bytes[position] ?? 0
        this.#headerLength += 1
        position += 1
        this.#arriving = this.#frameIn(this.#header.subarray(0, this.#headerLength))
        if (this.#arriving?.left === 0) this.#finish(this.#arriving)
      } else {
        const part = bytes.subarray(position, position + this.#arriving.left)
        position += part.length
        this.#take(this.#arriving, part)
      }
    }
  }

  #take(arriving: Arriving, part: Uint8Array): void {
    const plain = unmasked(part, arriving.mask, arriving.taken)
    if (arriving.control === undefined) this.#parts.onBytes(plain)
    else arriving.control.set(plain, arriving.taken)
    arriving.taken += part.length
    arriving.left -= part.length
    if (arriving.left === 0) this.#finish(arriving)
  }

  #finish({ opcode, control = new Uint8Array() }: Arriving): void {
    this.#arriving = undefined
    this.#headerLength = 0
    if (opcode === OPCODE.ping) this.#parts.onPing(control)
    if (opcode === OPCODE.close) this.#parts.onClose()
  }

  /** The frame that a header announces; undefined while the header is not whole. */
  #frameIn(header: Uint8Array): Arriving | undefined {
    const [first = 0, second = 0] = header
    if (header.length < 2) return undefined
    const opcode = first & 0x0f
    const isControl = opcode >= OPCODE.close
    const short = second & 0x7f
    if ((first & 0x70) !== 0) throw new ProtocolError(PROTOCOL_ERROR, 'an extension that was not agreed on')
    if ((second & 0x80) === 0) throw new ProtocolError(PROTOCOL_ERROR, 'a client masks what it sends')
    this.#requireOrder(opcode, (first & 0x80) !== 0, isControl && short > LONGEST_CONTROL)
    const lengthBytes = short === LENGTH_OF_16_BITS ? 2 : short === LENGTH_OF_64_BITS ? 8 : 0
    if (header.length < 2 + lengthBytes + 4) return undefined
    const left = lengthBytes === 0 ? short : lengthIn(header.subarray(2, 2 + lengthBytes))
    if (!isControl) this.#isUnfinished = (first & 0x80) === 0
    const mask = header.slice(2 + lengthBytes)
    return { opcode, mask, left, taken: 0, control: isControl ? new Uint8Array(left) : undefined }
  }

  #requireOrder(opcode: number, isFinal: boolean, isLongControl: boolean): void {
    switch (opcode) {
      case OPCODE.close:
      case OPCODE.ping:
      case OPCODE.pong:
        if (!isFinal || isLongControl) throw new ProtocolError(PROTOCOL_ERROR, 'a control frame in parts')
        return
      case OPCODE.binary:
        if (this.#isUnfinished) throw new ProtocolError(PROTOCOL_ERROR, 'a message within a message')
        return
      case OPCODE.continuation:
        if (!this.#isUnfinished) throw new ProtocolError(PROTOCOL_ERROR, 'a continuation of nothing')
        return
      default:
        throw new ProtocolError(UNSUPPORTED_DATA, 'a message that is not binary')
    }
  }
}

function lengthIn(bytes: Uint8Array): number {
  const length = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  if (!Number.isSafeInteger(length)) throw new ProtocolError(PROTOCOL_ERROR, 'a length that nothing has')
  return length
}

function unmasked(bytes: Uint8Array, mask: Uint8Array, offset: number): Uint8Array {
  const plain = new Uint8Array(bytes.length)
  for (let index = 0; index < bytes.length; index += 1) {
    plain[index] = (bytes[index] ?? 0) ^ (mask[(offset + index) & 3] ?? 0)
  }
  return plain
}
