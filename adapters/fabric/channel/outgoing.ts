import type { Duplex } from 'node:stream'
import { encodeFrame, type Frame } from './frame.ts'

/** What may wait for a socket, and for how long. */
export interface OutgoingLimits {
  readonly bytes: number
  /** Milliseconds without the peer reading anything. */
  readonly stallMs: number
}

const PIECE_BYTES = 65_536
const SMALL_BYTES = 16_384

/**
 * The frames that wait for a socket, written in small pieces as fast as the peer reads. What many receive is not copied. A
 * peer that stops reading is given up: nobody else waits for it, and what waits for it is bounded.
 */
export class Outgoing {
  readonly #socket: Duplex
  readonly #limits: OutgoingLimits
  readonly #onStalled: () => void
  #pieces: Uint8Array[] = []
  #next = 0
  #bytes = 0
  #stall: NodeJS.Timeout | undefined

  constructor(socket: Duplex, limits: OutgoingLimits, onStalled: () => void) {
    this.#socket = socket
    this.#limits = limits
    this.#onStalled = onStalled
    socket.on('drain', () => this.#drained())
    socket.once('close', () => clearTimeout(this.#stall))
  }

  write(frame: Frame): void {
    if (this.#socket.destroyed) return
    if (this.#bytes > this.#limits.bytes) {
      this.#onStalled()
      return
    }
    for (const piece of compact(encodeFrame(frame))) {
      this.#pieces.push(piece)
      this.#bytes += piece.length
    }
    if (this.#stall === undefined) this.#pump()
  }

  #drained(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    // Others have the event loop between two pieces, however fast the peer reads.
    setImmediate(() => this.#pump())
  }

  #pump(): void {
    for (let piece = this.#pieces[this.#next]; piece !== undefined; piece = this.#pieces[this.#next]) {
      const part = piece.subarray(0, PIECE_BYTES)
      if (part.length < piece.length) this.#pieces[this.#next] = piece.subarray(PIECE_BYTES)
      else this.#next += 1
      this.#bytes -= part.length
      if (this.#socket.write(part)) continue
      this.#stall = setTimeout(this.#onStalled, this.#limits.stallMs)
      this.#stall.unref()
      break
    }
    if (this.#next === this.#pieces.length) {
      this.#pieces = []
      this.#next = 0
    } else if (this.#next > 1024) {
      this.#pieces = this.#pieces.slice(this.#next)
      this.#next = 0
    }
  }
}

/** A small frame is one piece, and so one packet. */
function compact(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  return bytes > SMALL_BYTES ? pieces : [Buffer.concat(pieces)]
}
