import type { EdgeData } from '../../channel/circuit-ends.ts'
import { type Endpoint, OwnRoom, type Room } from './endpoint.ts'

/** The connection that gets the data. */
interface Receiver extends Room {
  isFullFor(): boolean
  deliver(data: EdgeData): void
}

/** The data of one endpoint for a connection of another endpoint at this router, in order. The other endpoint may read slowly. */
export class SplicedData {
  readonly #sender: Pick<Endpoint<never>, 'holdFor'>
  readonly #receiver: Receiver
  /** Data that waits for the receiver. */
  readonly #held: EdgeData[] = []
  readonly #room = new OwnRoom()
  #isWaiting = false
  #isOver = false

  constructor(sender: Pick<Endpoint<never>, 'holdFor'>, receiver: Receiver) {
    this.#sender = sender
    this.#receiver = receiver
  }

  /**
   * Gives the receiver data as long as its endpoint has room. Without room nothing more is read from the sender: what many senders have on
   * the way together would be more than an endpoint may leave unread.
   */
  pass(data: EdgeData): void {
    this.#held.push(data)
    this.#deliver()
  }

  /** The sender has left: the receiver gets all of its data. */
  finish(): void {
    for (const data of this.#held.splice(0)) this.#receiver.deliver(data)
    this.drop()
  }

  /** The circuit is over: data that waits is dropped, and the sender is read again. */
  drop(): void {
    this.#isOver = true
    this.#held.length = 0
    this.#room.open()
  }

  /** Delivers as long as there is room, and then slows the sender down, or has it read again. */
  #deliver(): void {
    while (this.#held.length > 0 && !this.#receiver.isFullFor()) {
      const data = this.#held.shift()
      if (data !== undefined) this.#receiver.deliver(data)
    }
    if (this.#isOver || (this.#held.length === 0 && !this.#receiver.isFullFor())) {
      this.#room.open()
      return
    }
    this.#sender.holdFor(this.#room)
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#receiver.whenRoom(() => {
      this.#isWaiting = false
      this.#deliver()
    })
  }
}
