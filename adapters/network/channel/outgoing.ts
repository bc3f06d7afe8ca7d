import type { Duplex } from 'node:stream'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { encodeFrame, type Frame } from './frame.ts'

/** Limits of the messages that may wait for a socket, and for how long. */
export interface OutgoingLimits {
  /** Bytes beside the one large message that may be under way. */
  readonly bytes: number
  /** Milliseconds without the peer reading anything. */
  readonly stallMs: number
  /** Whether all messages of a turn of the event loop leave together; otherwise only the messages of one piece of work do. */
  readonly gathersTurn?: boolean
}

/** The listener for the progress of a peer. */
interface OutgoingListener {
  /** Everything that waited is in the hands of the system. */
  onDrained(): void
  onStalled(): void
}

interface Piece {
  readonly bytes: Uint8Array
  /** It belongs to the large message under way, which many receivers share without a copy. */
  readonly isLarge: boolean
}

const PIECE_BYTES = 65_536
const SMALL_BYTES = 16_384
/** Bytes that are handed to a socket at once. The system would take megabytes, and keep them. */
const AT_ONCE_BYTES = 131_072
const LARGE_BYTES = 1024 * 1024

/**
 * The frames that wait for a socket, written in small pieces as fast as the peer reads. A message for many receivers is not copied. A peer
 * that stops reading is given up: no other peer waits for it, and its queue is bounded.
 */
export class Outgoing {
  readonly #socket: Duplex
  readonly #limits: OutgoingLimits
  readonly #listener: OutgoingListener
  #pieces: Piece[] = []
  #next = 0
  /** Bytes that are left of the large message that is under way. */
  #largeBytes = 0
  /** Bytes of all other messages that wait. */
  #bytes = 0
  #stall: (() => void) | undefined
  /** A later turn to write is scheduled. */
  #isInLine = false
  /** It writes at the end of the running work or of this turn of the event loop. */
  #isSoon = false
  #isEnding = false

  constructor(socket: Duplex, limits: OutgoingLimits, listener: OutgoingListener) {
    this.#socket = socket
    this.#limits = limits
    this.#listener = listener
    socket.on('drain', () => this.#drained())
    socket.once('close', () => this.#stall?.())
  }

  get queuedBytes(): number {
    return this.#bytes + this.#largeBytes + this.#socket.writableLength
  }

  write(frame: Frame): void {
    if (this.#socket.destroyed || this.#isEnding) return
    if (this.#bytes > this.#limits.bytes) {
      this.#listener.onStalled()
      return
    }
    const pieces = compact(encodeFrame(frame))
    const total = pieces.reduce((sum, { length }) => sum + length, 0)
    const isLarge = total >= LARGE_BYTES && this.#largeBytes === 0
    for (const bytes of pieces) this.#pieces.push({ bytes, isLarge })
    if (isLarge) this.#largeBytes = total
    else this.#bytes += total
    if (this.#stall === undefined && !this.#isInLine) this.#pumpSoon()
  }

  /** Accepts no more messages, and ends the socket once the queue has gone out. */
  end(): void {
    this.#isEnding = true
    if (this.#pieces.length === 0) this.#socket.end()
  }

  #drained(): void {
    this.#stall?.()
    this.#stall = undefined
    this.#pumpLater()
  }

  /**
   * Messages that are sent together leave together: a packet and a TLS record for each message would cost more than its other work. The
   * messages of a peer arrive one TLS record at a time, so that only the whole turn gathers the messages that follow from them.
   */
  #pumpSoon(): void {
    if (this.#isSoon) return
    this.#isSoon = true
    const pump = () => {
      this.#isSoon = false
      if (this.#stall === undefined && !this.#isInLine) this.#pump()
    }
    if (this.#limits.gathersTurn) inSlices(pump)
    else queueMicrotask(pump)
  }

  /** Other work has the event loop between two pieces, however fast the peer reads. */
  #pumpLater(): void {
    if (this.#isInLine) return
    this.#isInLine = true
    inSlices(() => {
      this.#isInLine = false
      this.#pump()
      if (this.#pieces.length === 0 && this.#stall === undefined) this.#listener.onDrained()
    })
  }

  #pump(): void {
    if (this.#socket.destroyed) return
    let written = 0
    // Head and body of a message leave in one packet.
    this.#socket.cork()
    for (let piece = this.#pieces[this.#next]; piece !== undefined; piece = this.#pieces[this.#next]) {
      const { bytes, isLarge } = piece
      const part = bytes.subarray(0, PIECE_BYTES)
      if (part.length < bytes.length) this.#pieces[this.#next] = { bytes: bytes.subarray(PIECE_BYTES), isLarge }
      else this.#next += 1
      if (isLarge) this.#largeBytes -= part.length
      else this.#bytes -= part.length
      written += part.length
      if (this.#socket.write(part)) {
        if (written < AT_ONCE_BYTES) continue
        this.#pumpLater()
        break
      }
      this.#stall = runtime.timer(this.#limits.stallMs, () => this.#listener.onStalled())
      break
    }
    this.#socket.uncork()
    if (this.#next === this.#pieces.length) {
      this.#pieces = []
      this.#next = 0
      if (this.#isEnding) this.#socket.end()
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

/** Milliseconds for which the event loop may be held at once. */
const SLICE_MS = 3

const WAITING: (() => void)[] = []

/** Does work in a later turn of the event loop: as much waiting work as fits a slice, the rest in the next slice. */
function inSlices(work: () => void): void {
  WAITING.push(work)
  if (WAITING.length === 1) runtime.later(serve)
}

function serve(): void {
  const begun = runtime.monotonic()
  let done = 0
  try {
    for (const work of WAITING) {
      if (runtime.monotonic() - begun >= SLICE_MS) break
      done += 1
      work()
    }
  } finally {
    WAITING.splice(0, done)
    if (WAITING.length > 0) runtime.later(serve)
  }
}
