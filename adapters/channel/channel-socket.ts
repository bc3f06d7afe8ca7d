import type { Duplex } from 'node:stream'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import { type Frame, type FrameLimits, FrameReader } from './frame.ts'
import { FrameAllowance, type FrameRate } from './frame-rate.ts'
import { Outgoing, type OutgoingLimits } from './outgoing.ts'

/** What one socket may cost. */
export interface SocketLimits {
  readonly frame: FrameLimits
  readonly outgoing: OutgoingLimits
  readonly rate: FrameRate
}

/** What a socket tells of its peer. */
export interface SocketListener {
  onFrame(frame: Frame): void
  /** The peer sent what is no frame, sends too fast or does not read; a flood is slowed down, the others are over. */
  onTrouble(what: 'malformed' | 'flood' | 'slow-reader'): void
  onClose(): void
}

/** Milliseconds for which a peer may go on reading what was sent before the end. */
const ENDING_MS = 1000

/** Frames over one socket, both ways. */
export class ChannelSocket {
  readonly #socket: Duplex
  readonly #outgoing: Outgoing
  readonly #allowance: FrameAllowance
  #reader: FrameReader
  #listener: SocketListener
  readonly #lifetime = new Lifetime('the socket is closed')
  #isEnding = false
  /** When something arrived last, ms of the monotonic clock. */
  heardAt = performance.now()

  constructor(socket: Duplex, limits: SocketLimits, helloLimits: FrameLimits, listener: SocketListener) {
    this.#socket = socket
    this.#listener = listener
    this.#reader = new FrameReader(helloLimits)
    this.#allowance = new FrameAllowance(limits.rate, performance.now())
    this.#outgoing = new Outgoing(socket, limits.outgoing, () => this.#fail('slow-reader'))
    socket.on('data', (bytes: Uint8Array) => this.#read(bytes))
    // A broken connection is told by `close` as well.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#closed())
  }

  /** From now on the peer is known: it may send more, and somebody else listens. */
  admit(limits: FrameLimits, listener: SocketListener): void {
    this.#reader = new FrameReader(limits)
    this.#listener = listener
  }

  send(frame: Frame): void {
    this.#outgoing.write(frame)
  }

  /** Takes nothing more in until {@link resume}. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Closes at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** Closes when what was sent has gone out and the peer has closed too, or after a second. What it sends is passed over. */
  end(): void {
    this.#isEnding = true
    this.#outgoing.end()
    this.resume()
    setTimeout(() => this.#socket.destroy(), ENDING_MS).unref()
  }

  #read(bytes: Uint8Array): void {
    this.heardAt = performance.now()
    const frames = this.#framesIn(bytes)
    for (const frame of frames) {
      if (!this.#lifetime.isOpen || this.#isEnding) return
      this.#listener.onFrame(frame)
    }
    const waitMs = this.#allowance.take(frames.length, this.heardAt)
    if (waitMs === 0) return
    this.#listener.onTrouble('flood')
    this.pause()
    setTimeout(() => this.resume(), waitMs).unref()
  }

  #framesIn(bytes: Uint8Array): readonly Frame[] {
    try {
      return this.#reader.push(bytes)
    } catch {
      this.#fail('malformed')
      return []
    }
  }

  #fail(what: 'malformed' | 'slow-reader'): void {
    if (!this.#lifetime.isOpen) return
    this.#listener.onTrouble(what)
    this.destroy()
  }

  #closed(): void {
    if (this.#lifetime.end()) this.#listener.onClose()
  }
}
