import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests a client may send ahead of the answer to its first; known clients send none. */
const MAX_AHEAD = 32

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** A connection: whether a request of it is being answered, and those that came ahead of the answer. */
interface Turn {
  isTaken: boolean
  readonly waiting: Exchange[]
}

/**
 * Has the requests of each connection answered one after the other. Node hands out all that a client sends ahead at once:
 * a packet of small requests for a large document would fill the memory with answers that nobody reads.
 * A client that sends too many ahead loses its connection.
 */
export function oneAtATime(answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const turns = new WeakMap<Socket, Turn>()

  const begin = ({ incoming, outgoing }: Exchange, turn: Turn) => {
    turn.isTaken = true
    // Node tells this only of the answer that is at the head of its connection, which this one is.
    outgoing.once('close', () => {
      turn.isTaken = false
      const next = turn.waiting.shift()
      if (next !== undefined && !incoming.socket.destroyed) begin(next, turn)
    })
    answer(incoming, outgoing)
  }

  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming
    // What was sent ahead in the same packet still arrives after its connection is gone.
    if (socket.destroyed) return
    const turn = turns.get(socket) ?? { isTaken: false, waiting: [] }
    turns.set(socket, turn)
    if (!turn.isTaken) begin({ incoming, outgoing }, turn)
    else if (turn.waiting.length < MAX_AHEAD) turn.waiting.push({ incoming, outgoing })
    else socket.destroy()
  }
}
