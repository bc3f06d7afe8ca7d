import { Duplex } from 'node:stream'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { FRAME_PREFIX_BYTES, frameBytes } from './frame.ts'

type Done = (error?: Error | null) => void

const NORMAL = 1000
/** Milliseconds between pings, which clients answer. */
const PING_MS = 20_000
/** Milliseconds without anything from a client after which it is gone. */
const SILENCE_MS = 60_000
const SHORT_LENGTH = 126
const LONGEST_OF_16_BITS = 65_536

/**
 * The frames of a channel within a websocket, at the side of the server: bytes of the channel on one side, messages of RFC 6455 on the
 * other. Each frame of the channel goes out as one binary message, as programs of the field read it; a client may cut its messages in any
 * way. A client without any message for a minute, not even a pong, is gone.
 */
export class WebSocketStream extends Duplex {
  readonly #socket: Duplex
  readonly #incoming: IncomingMessages
  readonly #pinging: () => void
  /** Bytes of the frame under way that are still to be written, and the beginning of the next one. */
  #left = 0
  #begun: Uint8Array = new Uint8Array()
  #heardAt = runtime.monotonic()
  #isClosing = false

  /** `head` holds the bytes that the client sent behind its request. */
  constructor(socket: Duplex, head: Uint8Array) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#incoming = new IncomingMessages({
      onBytes: (bytes) => {
        if (!this.push(bytes)) socket.pause()
      },
      onPing: (payload) => this.#pong(payload),
      onClose: () => this.#end(NORMAL),
    })
    this.#pinging = runtime.interval(PING_MS, () => this.#ping())
    socket.on('data', (bytes: Uint8Array) => this.#take(bytes))
    socket.on('error', () => undefined)
    // A server of plain HTTP leaves its half open.
    socket.once('end', () => this.#end(NORMAL))
    socket.once('close', () => this.destroy())
    if (head.length > 0) this.#take(head)
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Uint8Array, _encoding: string, done: Done): void {
    this.#socket.cork()
    let rest = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk])
    this.#begun = new Uint8Array()
    let isTaken = true
    while (rest.length > 0) {
      if (this.#left === 0) {
        if (rest.length < FRAME_PREFIX_BYTES) {
          this.#begun = rest
          break
        }
        this.#left = frameBytes(rest)
        this.#socket.write(header(OPCODE.binary, this.#left))
      }
      const part = rest.subarray(0, this.#left)
      this.#left -= part.length
      rest = rest.subarray(part.length)
      isTaken = this.#socket.write(part)
    }
    this.#socket.uncork()
    if (isTaken) done()
    else this.#socket.once('drain', () => done())
  }

  override _final(done: Done): void {
    this.#end(NORMAL)
    done()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#pinging()
    this.#socket.destroy()
    done(error)
  }

  #take(bytes: Uint8Array): void {
    this.#heardAt = runtime.monotonic()
    try {
      this.#incoming.push(bytes)
    } catch (error) {
      this.#end(error instanceof ProtocolError ? error.status : NORMAL)
      this.destroy()
    }
  }

  /** One pong is enough for pings that arrive faster than pongs go out. */
  #pong(payload: Uint8Array): void {
    if (this.#socket.writableLength === 0) this.#control(OPCODE.pong, payload)
  }

  #ping(): void {
    // A client that is not read is not heard either.
    if (this.#socket.isPaused()) this.#heardAt = runtime.monotonic()
    if (runtime.monotonic() - this.#heardAt > SILENCE_MS) this.destroy()
    else this.#control(OPCODE.ping, new Uint8Array())
  }

  /** A control frame may go out between other frames, but not within a frame. */
  #control(opcode: number, payload: Uint8Array): void {
    if (this.#isClosing || this.#left > 0) return
    this.#socket.write(Buffer.concat([header(opcode, payload.length), payload]))
  }

  #end(status: number): void {
    if (this.#isClosing) return
    this.#control(OPCODE.close, Uint8Array.of(status >> 8, status & 0xff))
    this.#isClosing = true
    this.#socket.end()
    this.push(null)
  }
}

/** The bytes before the payload of a final frame of the server, which masks nothing. */
function header(opcode: number, length: number): Uint8Array {
  const first = 0x80 | opcode
  if (length < SHORT_LENGTH) return Uint8Array.of(first, length)
  if (length < LONGEST_OF_16_BITS) return Uint8Array.of(first, 126, length >> 8, length & 0xff)
  const bytes = new Uint8Array(10)
  bytes.set([first, 127])
  new DataView(bytes.buffer).setBigUint64(2, BigInt(length))
  return bytes
}
/** The kinds of WebSocket frames (RFC 6455, section 5.2). */
const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Receives the parts of messages as they arrive. */
interface MessageParts {
  /** Bytes of binary messages, in order. */
  onBytes(bytes: Uint8Array): void
  onPing(payload: Uint8Array): void
  /** The client ends the conversation. */
  onClose(): void
}

/** A client violated the protocol; the close frame carries `status`. */
class ProtocolError extends Error {
  readonly status: number

  constructor(status: number, problem: string) {
    super(`malformed websocket message: ${problem}`)
    this.name = 'ProtocolError'
    this.status = status
  }
}

const PROTOCOL_ERROR = 1002
const UNSUPPORTED_DATA = 1003
/** The most bytes before the payload of a frame: two bytes, a length of eight and a mask of four. */
const MOST_HEADER_BYTES = 14
const LONGEST_CONTROL = 125
const LENGTH_OF_16_BITS = 126
const LENGTH_OF_64_BITS = 127

/** A frame whose payload is arriving. */
interface Arriving {
  readonly opcode: number
  readonly mask: Uint8Array
  /** Bytes of the payload that are missing, and that arrived. */
  left: number
  taken: number
  /** The payload of a control frame, which arrives whole. */
  readonly control: Uint8Array | undefined
}

/**
 * Takes the messages of a client apart as their bytes arrive. Nothing but a header and a control frame is kept, so that the
 * length of a message costs no memory here.
 */
class IncomingMessages {
  readonly #parts: MessageParts
  readonly #header = new Uint8Array(MOST_HEADER_BYTES)
  #headerLength = 0
  #arriving: Arriving | undefined
  /** A fragmented message is not complete. */
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
