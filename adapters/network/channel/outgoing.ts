import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { senderOf } from './circuit-frames.ts'
import { FairQueue } from './fair-queue.ts'
import { encodeFrame, type Frame, lengthOfFrame, writeFrame } from './frame.ts'

/** Limits of the messages that may wait for a socket, and for how long. */
export interface OutgoingLimits {
  /** Bytes beside the one large message that may be under way. */
  readonly bytes: number
  /** Milliseconds without the peer reading anything. */
  readonly stallMs: number
  /**
   * Whether it carries circuits: all messages of a turn of the event loop leave together, and circuits with many waiting messages take turns.
   * Otherwise only the messages of one piece of work leave together, and all keep their order.
   */
  readonly carriesCircuits?: boolean
}

/** The listener for the progress of a peer. */
interface OutgoingListener {
  /** Everything that waited is in the hands of the system. */
  onDrained(): void
  onStalled(): void
}

/** A whole message, or a piece of a message that is longer than the bytes of one write. */
type Piece =
  | { readonly frame: Frame; readonly length: number }
  | {
      readonly bytes: Uint8Array
      /** It belongs to the large message under way, which many receivers share without a copy. */
      readonly isLarge: boolean
    }

/** A message that waits for the turn of its circuit. */
interface WaitingFrame {
  readonly frame: Frame
  readonly length: number
  readonly isLarge: boolean
}

const PIECE_BYTES = 65_536
/** Bytes that Node takes from a pool of its own. */
const SMALL_BYTES = 4096
/** Bytes that are handed to a socket at once. The system would take megabytes, and keep them. */
const AT_ONCE_BYTES = 131_072
const LARGE_BYTES = 1024 * 1024
/** Bytes that are next for the socket, in the order in which they were sent. Beyond them circuits take turns. */
const NEXT_BYTES = 131_072
/** Room that many writes use in turn, the next one when the last one is done: fresh memory for each would keep the collector at work. */
const FREE: Buffer[] = []
/** Rooms that wait for a next use. */
const MOST_FREE = 32

/**
 * The frames that wait for a socket, written in small pieces as fast as the peer reads. A message for many receivers is not copied. A peer
 * that stops reading is given up: no other peer waits for it, and its queue is bounded.
 */
export class Outgoing {
  readonly #socket: Duplex
  /** Whether written bytes are with the system when a write is done: a stream in this process may hand them on as they are. */
  readonly #givesBack: boolean
  readonly #limits: OutgoingLimits
  readonly #listener: OutgoingListener
  #pieces: Piece[] = []
  #next = 0
  /** The bytes of those pieces that wait. */
  #pieceBytes = 0
  /** Messages of circuits that wait behind them. */
  readonly #circuits = new FairQueue<WaitingFrame>()
  /** The shared room of the bytes that are written next. */
  #room: Buffer | undefined
  /** Bytes that are left of the large message that is under way. */
  #largeBytes = 0
  /** Bytes of all other messages that wait. */
  #bytes = 0
  /** The socket takes no more until it drains. */
  #isWaiting = false
  /** The instant since which it takes no more, ms of the monotonic clock. */
  #waitsFrom = 0
  /** Cancels the watch over a peer that does not read. It outlasts a wait: a timer for every write would cost more than the write. */
  #cancelWatch: (() => void) | undefined
  /** A later turn to write is scheduled. */
  #isInLine = false
  /** It writes at the end of the running work or of this turn of the event loop. */
  #isSoon = false
  #isEnding = false

  constructor(socket: Duplex, limits: OutgoingLimits, listener: OutgoingListener) {
    this.#socket = socket
    this.#givesBack = socket instanceof Socket
    this.#limits = limits
    this.#listener = listener
    socket.on('drain', () => this.#drained())
    socket.once('close', () => this.#cancelWatch?.())
  }

  get queuedBytes(): number {
    return this.#bytes + this.#largeBytes + this.#socket.writableLength
  }

  /** The bytes that wait for the turns of the connection or circuit of a message. */
  queuedBytesOf(frame: Frame): number {
    const sender = senderOf(frame)
    return sender === undefined ? 0 : this.#circuits.bytesOf(sender)
  }

  write(frame: Frame): void {
    if (this.#socket.destroyed || this.#isEnding) return
    if (this.#bytes > this.#limits.bytes) {
      this.#listener.onStalled()
      return
    }
    const length = lengthOfFrame(frame)
    const isLarge = length >= LARGE_BYTES && this.#largeBytes === 0
    if (isLarge) this.#largeBytes = length
    else this.#bytes += length
    const isShort = this.#pieceBytes < NEXT_BYTES && this.#circuits.isEmpty
    const sender = isShort || !this.#limits.carriesCircuits ? undefined : senderOf(frame)
    if (sender === undefined) this.#line({ frame, length, isLarge })
    else this.#circuits.add(sender, { frame, length, isLarge }, length)
    if (!this.#isWaiting && !this.#isInLine) this.#pumpSoon()
  }

  /** The message is next for the socket, behind those before. */
  #line({ frame, length, isLarge }: WaitingFrame): void {
    this.#pieceBytes += length
    if (length <= PIECE_BYTES) this.#pieces.push({ frame, length })
    else for (const bytes of encodeFrame(frame)) this.#pieces.push({ bytes, isLarge })
  }

  /** Circuits take turns. */
  #refill(): void {
    while (this.#pieceBytes < NEXT_BYTES && !this.#circuits.isEmpty) {
      for (const waiting of this.#circuits.takeTurn()) this.#line(waiting)
    }
  }

  /** Accepts no more messages, and ends the socket once the queue has gone out. */
  end(): void {
    this.#isEnding = true
    if (this.#pieces.length === 0) this.#socket.end()
  }

  #drained(): void {
    this.#isWaiting = false
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
      if (!this.#isWaiting && !this.#isInLine) this.#pump()
    }
    if (this.#limits.carriesCircuits) inSlices(pump)
    else queueMicrotask(pump)
  }

  /** Other work has the event loop between two pieces, however fast the peer reads. */
  #pumpLater(): void {
    if (this.#isInLine) return
    this.#isInLine = true
    inSlices(() => {
      this.#isInLine = false
      this.#pump()
      if (this.#pieces.length === 0 && !this.#isWaiting) this.#listener.onDrained()
    })
  }

  #pump(): void {
    if (this.#socket.destroyed) return
    let part = this.#take()
    // Head and body of a message leave in one packet.
    const isOnly = this.#next === this.#pieces.length
    if (!isOnly) this.#socket.cork()
    for (let written = 0; part !== undefined; part = this.#take()) {
      written += part.length
      const room = this.#room
      this.#room = undefined
      const isFree = this.#socket.write(part, room && ((error) => error || giveRoomBack(room)))
      if (!isFree) {
        this.#wait()
        break
      }
      if (written < AT_ONCE_BYTES) continue
      this.#pumpLater()
      break
    }
    if (!isOnly) this.#socket.uncork()
    if (this.#next === this.#pieces.length) {
      this.#pieces = []
      this.#next = 0
      if (this.#isEnding) this.#socket.end()
    } else if (this.#next > 1024) {
      this.#pieces = this.#pieces.slice(this.#next)
      this.#next = 0
    }
  }

  /**
   * The bytes that are written next: a whole message, or a part of a longer one. A socket gets as many messages together as fit: only there
   * do writes cost more than copies.
   */
  #take(): Uint8Array | undefined {
    this.#refill()
    const first = this.#pieces[this.#next]
    if (first === undefined) return undefined
    if ('bytes' in first) return this.#takePart(first)
    let [end, total] = [this.#next, 0]
    for (let piece = this.#pieces[end]; piece !== undefined && 'frame' in piece; piece = this.#pieces[end]) {
      if (total > 0 && (!this.#givesBack || total + piece.length > PIECE_BYTES)) break
      total += piece.length
      end += 1
    }
    const isShared = this.#givesBack && total > SMALL_BYTES
    if (isShared) this.#room = FREE.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
    const bytes = this.#room?.subarray(0, total) ?? Buffer.allocUnsafe(total)
    let position = 0
    for (; this.#next < end; this.#next += 1) {
      const piece = this.#pieces[this.#next]
      if (piece !== undefined && 'frame' in piece) position = writeFrame(piece.frame, bytes, position)
    }
    this.#bytes -= total
    this.#pieceBytes -= total
    return bytes
  }

  #takePart({ bytes, isLarge }: Extract<Piece, { bytes: Uint8Array }>): Uint8Array {
    const part = bytes.subarray(0, PIECE_BYTES)
    if (part.length < bytes.length) this.#pieces[this.#next] = { bytes: bytes.subarray(PIECE_BYTES), isLarge }
    else this.#next += 1
    this.#pieceBytes -= part.length
    if (isLarge) this.#largeBytes -= part.length
    else this.#bytes -= part.length
    return part
  }

  #wait(): void {
    this.#isWaiting = true
    this.#waitsFrom = runtime.monotonic()
    this.#cancelWatch ??= runtime.timer(this.#limits.stallMs, () => this.#look())
  }

  #look(): void {
    this.#cancelWatch = undefined
    if (!this.#isWaiting || this.#socket.destroyed) return
    const leftMs = this.#waitsFrom + this.#limits.stallMs - runtime.monotonic()
    if (leftMs <= 0) this.#listener.onStalled()
    else this.#cancelWatch = runtime.timer(Math.ceil(leftMs), () => this.#look())
  }
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
      if (done > 0 && runtime.monotonic() - begun >= SLICE_MS) break
      done += 1
      work()
    }
  } finally {
    WAITING.splice(0, done)
    if (WAITING.length > 0) runtime.later(serve)
  }
}

/** The bytes of a room are with the system. */
function giveRoomBack(room: Buffer): void {
  if (FREE.length < MOST_FREE) FREE.push(room)
}
