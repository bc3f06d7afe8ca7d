import type { ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'

/** The connections of a server and the requests in flight on them. */
export interface Connections {
  /** Asks clients to leave after their current response and resolves when none is in flight, or after `graceMs`. */
  drain(graceMs: number): Promise<void>
  /** Ends every connection at once, also those still in their TLS handshake. */
  destroy(): void
}

/** Follows the connections of a server from before it listens. */
export function trackConnections(server: Server): Connections {
  const sockets = new Set<Socket>()
  const inFlight = new Set<ServerResponse>()
  let onDrained: (() => void) | undefined

  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Runs before the listener that answers, so that the header is set in time.
  server.prependListener('request', (_incoming, outgoing) => {
    inFlight.add(outgoing)
    if (onDrained !== undefined) closeAfter(outgoing)
    outgoing.once('close', () => {
      inFlight.delete(outgoing)
      if (inFlight.size === 0) onDrained?.()
    })
  })

  return {
    async drain(graceMs) {
      for (const outgoing of inFlight) closeAfter(outgoing)
      if (inFlight.size === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs)
        onDrained = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    destroy() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function closeAfter(outgoing: ServerResponse): void {
  if (!outgoing.headersSent) outgoing.setHeader('connection', 'close')
}
