import { runtime } from '../../../src/concurrency/process-runtime.ts'
import type { Channel, ChannelListener, Lane } from './channel.ts'
import { CHANNEL_HEADER } from './channel-numbers.ts'
import type { Frame } from './frame.ts'
import { uint32Header } from './header-values.ts'

/** A message before it has its number. */
export interface Message {
  readonly contentType: number
  readonly headers: ReadonlyMap<number, Uint8Array>
  readonly body: readonly Uint8Array[]
}

/** Gets every message of a channel as it is sent or received. */
export type Watch = (frame: Frame, isReceived: boolean) => void

/** Runs work after `ms` milliseconds; answers a function that cancels it. A test passes a timer that follows the clock of the test. */
export type Timer = (ms: number, work: () => void) => () => void

/** Sequences are positive numbers of 32 bits. */
const HIGHEST_SEQUENCE = 0x7f_ff_ff_ff

/** A request got no answer before its time or the channel ended. */
export class NoAnswer extends Error {
  readonly why: 'time-out' | 'closed'

  constructor(why: 'time-out' | 'closed') {
    super(why === 'closed' ? 'the channel is closed' : 'no answer in time')
    this.name = 'NoAnswer'
    this.why = why
  }
}

interface Waiting {
  readonly settle: (answer: Frame) => void
  readonly fail: (reason: NoAnswer) => void
}

/** The timer of the process, which keeps no process alive. */
export function processTimer(ms: number, work: () => void): () => void {
  return runtime.timer(ms, work)
}

/**
 * Requests and answers on a channel: numbers sent messages, and matches answers with requests. Every other message goes to the listener,
 * late answers included.
 */
export class Conversation {
  readonly #channel: Channel
  readonly #timer: Timer
  readonly #waiting = new Map<number, Waiting>()
  #sequence = 0
  #isClosed = false
  watch: Watch | undefined

  constructor(channel: Channel, listener: ChannelListener, timer: Timer = processTimer) {
    this.#channel = channel
    this.#timer = timer
    channel.listen({
      onMessage: (message) => this.#take(message, listener),
      onDrain: () => listener.onDrain?.(),
      onTrouble: (what) => listener.onTrouble?.(what),
      onClose: () => {
        this.#isClosed = true
        for (const { fail } of this.#waiting.values()) fail(new NoAnswer('closed'))
        this.#waiting.clear()
        listener.onClose()
      },
    })
  }

  /** Sends a message; answers its number. */
  send({ contentType, headers, body }: Message, lane?: Lane): number {
    this.#sequence = (this.#sequence % HIGHEST_SEQUENCE) + 1
    const frame = { contentType, sequence: this.#sequence, headers, body }
    this.#channel.send(frame, lane)
    this.watch?.(frame, false)
    return this.#sequence
  }

  /** Sends the answer to a message. */
  reply({ sequence }: Frame, answer: Message, lane?: Lane): number {
    const headers = new Map([[CHANNEL_HEADER.replyFor, uint32Header(sequence >>> 0)], ...answer.headers])
    return this.send({ ...answer, headers }, lane)
  }

  /**
   * Sends a request; resolves with its answer. Rejects with {@link NoAnswer}. `onAnswer` runs before any message behind the answer is
   * delivered.
   */
  ask(request: Message, timeoutMs: number, lane?: Lane, onAnswer: () => void = () => undefined): Promise<Frame> {
    if (this.#isClosed) return Promise.reject(new NoAnswer('closed'))
    return new Promise((resolve, reject) => {
      const sequence = this.send(request, lane)
      const cancel = this.#timer(timeoutMs, () => {
        this.#waiting.delete(sequence)
        reject(new NoAnswer('time-out'))
      })
      const settle = (answer: Frame) => {
        cancel()
        onAnswer()
        resolve(answer)
      }
      const fail = (reason: NoAnswer) => {
        cancel()
        reject(reason)
      }
      this.#waiting.set(sequence, { settle, fail })
    })
  }

  #take(message: Frame, listener: ChannelListener): void {
    this.watch?.(message, true)
    const answered = answeredBy(message)
    const waiting = answered === undefined ? undefined : this.#waiting.get(answered)
    if (answered === undefined || waiting === undefined) listener.onMessage(message)
    else {
      this.#waiting.delete(answered)
      waiting.settle(message)
    }
  }
}

/** The number of the message that a message answers; undefined for a message that is no answer. */
function answeredBy({ headers }: Frame): number | undefined {
  const value = headers.get(CHANNEL_HEADER.replyFor)
  if (value === undefined || value.length < 4) return undefined
  return new DataView(value.buffer, value.byteOffset, value.length).getInt32(0, true)
}
