import type { Duplex } from 'node:stream'
import type { OpenOperatorSession, OperatorSession, ToOperator } from '../../../../src/control-channel.ts'
import type { ChannelListener } from '../../channel/channel.ts'
import { ChannelSocket, type SocketLimits } from '../../channel/channel-socket.ts'
import { Conversation } from '../../channel/conversation.ts'
import type { Frame } from '../../channel/frame.ts'
import { boolHeader } from '../../channel/header-values.ts'
import { CONTENT_TYPE, HEADER } from '../messages/content-types.ts'
import { readFromOperator, writeToOperator } from './operator-messages.ts'

/** Requests of operators are short; answers may be long, and wait for them within a bound. */
const LIMITS: SocketLimits = {
  frame: { headers: 16_384, body: 262_144 },
  rate: { perSecond: 50, burst: 500 },
  outgoing: { bytes: 16_777_216, stallMs: 15_000 },
}
/** How many requests of one program are worked on at a time; further ones are refused. */
const MOST_IN_HAND = 16

/**
 * Serves a program of an operator on a stream that carries frames; it was let through before.
 *
 * @example
 * openOperatorConnection(socket, open)
 */
export function openOperatorConnection(stream: Duplex, open: OpenOperatorSession): void {
  new OperatorConnection(stream, open).begin()
}

class OperatorConnection implements ChannelListener {
  readonly #socket: ChannelSocket
  readonly #conversation: Conversation
  readonly #open: OpenOperatorSession
  #session: OperatorSession | undefined
  #inHand = 0

  constructor(stream: Duplex, open: OpenOperatorSession) {
    this.#open = open
    this.#socket = new ChannelSocket(stream, LIMITS, LIMITS.frame, this)
    this.#conversation = new Conversation(this.#socket, this)
  }

  begin(): void {
    this.#session = this.#open({
      send: (message) => void this.#conversation.send(writeToOperator(message)),
      close: () => this.#socket.close(),
    })
  }

  onMessage(frame: Frame): void {
    switch (frame.contentType) {
      case CONTENT_TYPE.ping:
      case CONTENT_TYPE.latency:
        this.#conversation.reply(frame, {
          contentType: CONTENT_TYPE.result,
          headers: new Map([[HEADER.success, boolHeader(true)]]),
          body: [],
        })
        return
      case CONTENT_TYPE.result:
      case CONTENT_TYPE.heartbeat:
        return
      default:
        void this.#take(frame)
    }
  }

  onClose(): void {
    this.#session?.closed()
  }

  async #take(frame: Frame): Promise<void> {
    if (this.#inHand >= MOST_IN_HAND) return this.#refuse(frame, 'too many requests at once')
    this.#inHand += 1
    try {
      const message = readFromOperator(frame)
      if (message === undefined) return this.#refuse(frame, 'this controller does not take messages of this kind')
      const answer = await this.#session?.receive(message)
      if (answer === undefined) return
      this.#reply(frame, answer.reply)
      answer.begin?.()
    } catch {
      this.#refuse(frame, 'malformed message')
    } finally {
      this.#inHand -= 1
    }
  }

  #refuse(frame: Frame, message: string): void {
    this.#reply(frame, { type: 'result', success: false, message })
  }

  #reply(frame: Frame, message: ToOperator): void {
    this.#conversation.reply(frame, writeToOperator(message))
  }
}
