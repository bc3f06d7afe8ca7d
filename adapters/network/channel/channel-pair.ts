import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { Channel, ChannelListener } from './channel.ts'
import type { Frame } from './frame.ts'

/** Messages that are delivered before timers and sockets have their turn. */
const AT_ONCE = 64

/**
 * The two ends of a channel in this process. Messages arrive after the sender's own work is done, in order, without bytes
 * being written or copied, and without a timer, so that a test may stop the clock.
 */
export function channelPair(): readonly [Channel, Channel] {
  const left = new PairedChannel()
  const right = new PairedChannel()
  left.peer = right
  right.peer = left
  return [left, right]
}

class PairedChannel implements Channel {
  peer: PairedChannel | undefined
  #listener: ChannelListener | undefined
  /** Messages that arrived here and were not delivered yet. */
  #arriving: Frame[] = []
  #next = 0
  #arrivingBytes = 0
  #delivered = 0
  #isPaused = false
  #isDue = false
  /** The other end sends nothing more. */
  #isEnding = false
  #isClosed = false

  get queuedBytes(): number {
    return this.peer === undefined ? 0 : this.peer.#arrivingBytes
  }

  send(message: Frame): void {
    if (this.#isClosed || this.peer === undefined || this.peer.#isClosed || this.peer.#isEnding) return
    this.peer.#arriving.push(message)
    this.peer.#arrivingBytes += bytesOf(message)
    this.peer.#deliverSoon()
  }

  listen(listener: ChannelListener): void {
    this.#listener = listener
    if (this.#isClosed) queueMicrotask(() => listener.onClose())
    else this.#deliverSoon()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#deliverSoon()
  }

  close(): void {
    if (this.#isClosed || this.peer === undefined) return
    this.peer.#isEnding = true
    this.peer.#deliverSoon()
    this.#end()
  }

  destroy(): void {
    if (this.peer !== undefined) {
      this.peer.#arriving = []
      this.peer.#arrivingBytes = 0
    }
    this.close()
  }

  /** Tells this end that the other end has taken its messages. */
  drained(): void {
    this.#listener?.onDrain?.()
  }

  #deliverSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    const deliver = () => {
      this.#isDue = false
      this.#deliver()
    }
    this.#delivered = (this.#delivered + 1) % AT_ONCE
    if (this.#delivered === 0) runtime.later(deliver)
    else queueMicrotask(deliver)
  }

  /** One message a turn: others get theirs between two of them. */
  #deliver(): void {
    if (this.#isClosed || this.#isPaused || this.#listener === undefined) return
    const message = this.#arriving[this.#next]
    if (message === undefined) {
      if (this.#isEnding) this.#end()
      return
    }
    this.#next += 1
    this.#arrivingBytes -= bytesOf(message)
    const isDrained = this.#next === this.#arriving.length
    if (isDrained || this.#next > 1024) {
      this.#arriving.splice(0, this.#next)
      this.#next = 0
    }
    this.#listener.onMessage(message)
    if (isDrained) this.peer?.drained()
    if (this.#arriving.length > 0 || this.#isEnding) this.#deliverSoon()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#arriving = []
    this.#arrivingBytes = 0
    const listener = this.#listener
    queueMicrotask(() => listener?.onClose())
  }
}

function bytesOf({ headers, body }: Frame): number {
  let bytes = 20 + 8 * headers.size
  for (const value of headers.values()) bytes += value.length
  for (const piece of body) bytes += piece.length
  return bytes
}
