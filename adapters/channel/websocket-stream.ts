import { Duplex } from 'node:stream'
import { FRAME_PREFIX_BYTES, frameBytes } from './frame.ts'
import { IncomingMessages, OPCODE, ProtocolError } from './websocket-messages.ts'

type Done = (error?: Error | null) => void

const NORMAL = 1000
/** Milliseconds between pings, which clients answer. */
const PING_MS = 20_000
/** Milliseconds without anything from a client after which it is gone. */
const SILENCE_MS = 60_000
const SHORT_LENGTH = 126
const LONGEST_OF_16_BITS = 65_536

/**
 * The frames of a channel within a websocket, at the side of the server: bytes of the channel on one side, messages of RFC 6455
 * on the other. Each frame of the channel goes out as one binary message, as programs of the field read it; how the messages of
 * a client are cut does not matter. A client that says nothing for a minute, not even that it hears us, is gone.
 */
export class WebSocketStream extends Duplex {
  readonly #socket: Duplex
  readonly #incoming: IncomingMessages
  readonly #pinging: NodeJS.Timeout
  /** Bytes of the frame under way that are still to be written, and the beginning of the next one. */
  #left = 0
  #begun: Uint8Array = new Uint8Array()
  #heardAt = performance.now()
  #isClosing = false

  /** `head` is what the client sent behind its request. */
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
    this.#pinging = setInterval(() => this.#ping(), PING_MS).unref()
    socket.on('data', (bytes: Uint8Array) => this.#take(bytes))
    socket.on('error', () => undefined)
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
    clearInterval(this.#pinging)
    this.#socket.destroy()
    done(error)
  }

  #take(bytes: Uint8Array): void {
    this.#heardAt = performance.now()
    try {
      this.#incoming.push(bytes)
    } catch (error) {
      this.#end(error instanceof ProtocolError ? error.status : NORMAL)
      this.destroy()
    }
  }

  /** One answer is enough for pings that come faster than they are answered. */
  #pong(payload: Uint8Array): void {
    if (this.#socket.writableLength === 0) this.#control(OPCODE.pong, payload)
  }

  #ping(): void {
    if (performance.now() - this.#heardAt > SILENCE_MS) this.destroy()
    else this.#control(OPCODE.ping, new Uint8Array())
  }

  /** A frame of its own may stand between the bytes of others, but not in the middle of one. */
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
