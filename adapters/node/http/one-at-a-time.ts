import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests a client may send ahead of the answer to its first; known clients send none. */
const MAX_AHEAD = 32

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/**
 * Has the requests of each connection answered one after the other. Node hands out all that a client sends ahead at once:
 * a packet of small requests for a large document would fill the memory with answers that nobody reads.
 * A client that sends too many ahead loses its connection.
 */
export function oneAtATime(answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const behind = new WeakMap<Socket, Exchange[]>()

  const begin = ({ incoming, outgoing }: Exchange) => {
    const { socket } = incoming
    // Node tells this only of the answer that is at the head of its connection, which this one is.
    outgoing.once('close', () => {
      const next = behind.get(socket)?.shift()
      if (next === undefined) behind.delete(socket)
      else if (!socket.destroyed) begin(next)
    })
    answer(incoming, outgoing)
  }

  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming
    const waiting = behind.get(socket)
    // What was sent ahead in the same packet still arrives after its connection is gone.
    if (socket.destroyed) return
    if (waiting === undefined) {
      behind.set(socket, [])
      begin({ incoming, outgoing })
    } else if (waiting.length < MAX_AHEAD) waiting.push({ incoming, outgoing })
    else socket.destroy()
  }
}
