import type { Duplex } from 'node:stream'
import { Lifetime } from '../../../src/concurrency/lifetime.ts'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { Channel, ChannelListener } from './channel.ts'
import { type Frame, type FrameLimits, FrameReader } from './frame.ts'
import { Outgoing, type OutgoingLimits } from './outgoing.ts'

/** The frames that a peer may send: `perSecond` on average, and `burst` at once after a rest. */
export interface FrameRate {
  readonly perSecond: number
  readonly burst: number
}

/** Counts frames against a rate. Instants are milliseconds of a monotonic clock. */
export class FrameAllowance {
  readonly #rate: FrameRate
  #left: number
  #at: number

  constructor(rate: FrameRate, now: number) {
    this.#rate = rate
    this.#left = rate.burst
    this.#at = now
  }

  /** Counts frames; answers the milliseconds until the peer may send the next frame, 0 for no wait. */
  take(frames: number, now: number): number {
    const earned = ((now - this.#at) / 1000) * this.#rate.perSecond
    this.#left = Math.min(this.#rate.burst, this.#left + earned) - frames
    this.#at = now
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left / this.#rate.perSecond) * 1000)
  }
}

/** Limits of the cost of one socket. */
export interface SocketLimits {
  readonly frame: FrameLimits
  readonly outgoing: OutgoingLimits
  readonly rate: FrameRate
}

/**
 * Frames of one peer that one turn of the event loop delivers: the system brings megabytes in a turn, and all other peers would wait. A
 * count is used, not a time: on a busy machine a slice of time is too short to be worth a turn.
 */
const MOST_IN_TURN = 128
/** Frames from which on the count of a turn begins anew with the next one: most turns bring one frame, and would only wait for that. */
const COUNTED_FROM = 16
/** Milliseconds for which a peer may still read frames that were sent before the end. */
const ENDING_MS = 1000

/** Frames over one socket, both ways. */
export class ChannelSocket implements Channel {
  readonly #socket: Duplex
  readonly #outgoing: Outgoing
  readonly #allowance: FrameAllowance
  readonly #reader: FrameReader
  #listener: ChannelListener
  readonly #lifetime = new Lifetime('the socket is closed')
  #isEnding = false
  #isPaused = false
  /** The peer sent too much, and is read again when its time has come, whether its listener has paused it or not. */
  #isFlooded = false
  #isDelivering = false
  /** Frames that were delivered in this turn of the event loop, and a few of turns before that had few. */
  #inTurn = 0
  /** Other work has the event loop before the next frame. */
  #isResting = false
  #isDestroyed = false
  /** The socket is closed, and messages that came before wait for {@link resume}. */
  #isGone = false
  /** The instant of the last arrival, ms of the monotonic clock. */
  heardAt = runtime.monotonic()

  constructor(socket: Duplex, limits: SocketLimits, helloLimits: FrameLimits, listener: ChannelListener) {
    this.#socket = socket
    this.#listener = listener
    this.#reader = new FrameReader(helloLimits)
    this.#allowance = new FrameAllowance(limits.rate, runtime.monotonic())
    this.#outgoing = new Outgoing(socket, limits.outgoing, {
      onDrained: () => this.#listener.onDrain?.(),
      onStalled: () => this.#fail('slow-reader'),
    })
    socket.on('data', (bytes: Uint8Array) => this.#read(bytes))
    // `close` reports a broken connection as well.
    socket.on('error', () => undefined)
    socket.once('close', () => this.#closed())
  }

  get queuedBytes(): number {
    return this.#outgoing.queuedBytes
  }

  queuedBytesOf(message: Frame): number {
    return this.#outgoing.queuedBytesOf(message)
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener
    // It may have ended while its new listener was being made.
    if (!this.#lifetime.isOpen) queueMicrotask(() => listener.onClose())
  }

  /** The peer is known from now on: it may send more, to another listener. */
  admit(limits: FrameLimits, listener: ChannelListener): void {
    this.#reader.allow(limits)
    this.listen(listener)
  }

  send(frame: Frame): void {
    this.#outgoing.write(frame)
  }

  /** Reads and delivers nothing until {@link resume}: frames that arrived in one piece with the last message wait too. */
  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#goOn()
  }

  /** Reads again, if nothing else holds it up. */
  #goOn(): void {
    if (this.#isHeldUp) return
    this.#socket.resume()
    queueMicrotask(() => {
      this.#deliver()
      if (this.#isGone && !this.#isHeldUp) this.#over()
    })
  }

  get #isHeldUp(): boolean {
    return this.#isPaused || this.#isResting || this.#isFlooded
  }

  /** Closes at once. */
  destroy(): void {
    this.#isDestroyed = true
    this.#socket.destroy()
    if (this.#isGone) this.#over()
  }

  /** Closes when all frames have gone out and the peer has closed too, or after a second. Frames that still arrive are ignored. */
  close(): void {
    this.#isEnding = true
    this.#isFlooded = false
    this.#outgoing.end()
    this.resume()
    runtime.timer(ENDING_MS, () => this.#socket.destroy())
  }

  #read(bytes: Uint8Array): void {
    if (!this.#lifetime.isOpen || this.#isEnding) return
    this.heardAt = runtime.monotonic()
    this.#reader.add(bytes)
    this.#deliver()
  }

  #deliver(): void {
    if (this.#isDelivering || this.#isHeldUp) return
    this.#isDelivering = true
    let frames = 0
    try {
      while (this.#lifetime.isOpen && !this.#isEnding && !this.#isDestroyed && !this.#isHeldUp) {
        const frame = this.#next()
        if (frame === undefined) break
        frames += 1
        this.#listener.onMessage(frame)
        this.#count()
      }
    } finally {
      this.#isDelivering = false
    }
    const waitMs = frames === 0 ? 0 : this.#allowance.take(frames, this.heardAt)
    if (waitMs === 0) return
    this.#listener.onTrouble?.('flood')
    if (this.#isEnding || this.#isDestroyed) return
    this.#isFlooded = true
    this.#socket.pause()
    runtime.timer(waitMs, () => {
      this.#isFlooded = false
      this.#goOn()
    })
  }

  #count(): void {
    this.#inTurn += 1
    if (this.#inTurn === COUNTED_FROM) {
      runtime.later(() => {
        this.#inTurn = 0
      })
    }
    if (this.#inTurn === MOST_IN_TURN) this.#rest()
  }

  /** Frames that arrived wait for the next turn of the event loop, and nothing more is read until then. */
  #rest(): void {
    this.#isResting = true
    this.#socket.pause()
    runtime.later(() => {
      this.#isResting = false
      this.#goOn()
    })
  }

  #next(): Frame | undefined {
    try {
      return this.#reader.next()
    } catch {
      this.#fail('malformed')
      return undefined
    }
  }

  #fail(what: 'malformed' | 'slow-reader'): void {
    if (!this.#lifetime.isOpen) return
    this.#listener.onTrouble?.(what)
    this.destroy()
  }

  #closed(): void {
    this.#isGone = this.#isHeldUp && !this.#isEnding && !this.#isDestroyed && this.#hasMore()
    if (!this.#isGone) this.#over()
  }

  #hasMore(): boolean {
    try {
      return this.#reader.hasFrame
    } catch {
      return false
    }
  }

  #over(): void {
    if (this.#lifetime.end()) this.#listener.onClose()
  }
}
