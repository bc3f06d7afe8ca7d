import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { networkOf } from '../../../src/base/addresses.ts'
import { type CapacityOptions, createFairCapacity, type Holder } from '../../../src/concurrency/fair-capacity.ts'

/** The connections of a server and the requests in flight on them. */
export interface Connections {
  /**
   * Asks clients to leave after their current response and resolves when none is in flight, or after `graceMs`. Requests
   * that have not arrived whole are given up after `arrivalMs`.
   */
  drain(times: { readonly graceMs: number; readonly arrivalMs: number }): Promise<void>
  /** A connection is to stay, whatever room others need: somebody else bounds it. */
  keep(socket: Socket): void
  /** Ends every connection at once, also those still in their TLS handshake. */
  destroy(): void
}

interface Connection {
  readonly socket: Socket
  readonly holder: Holder
  /** The requests that it waits for answers to, in order; several where a client sends ahead. */
  readonly exchanges: Map<ServerResponse, IncomingMessage>
}

/**
 * Follows the connections of a server from before it listens, and holds them to a limit: a connection too many takes the
 * place of the one that has been silent for longest, of the address that has most. A connection whose request is being
 * answered is never ended for another; where all are, the one too many is.
 */
export function trackConnections(server: Server, limits: CapacityOptions): Connections {
  const capacity = createFairCapacity(limits)
  const connections = new Map<string, Connection>()
  /** The same by the socket of TLS, once the handshake has made one. */
  const byTlsSocket = new WeakMap<Socket, Connection>()
  const inFlight = new Set<Connection>()
  let onDrained: (() => void) | undefined

  const settle = (connection: Connection) => {
    inFlight.delete(connection)
    if (inFlight.size === 0) onDrained?.()
  }

  // Runs before the listener that begins the handshake, which leaves a connection alone that is gone.
  server.prependListener('connection', (socket: Socket) => {
    const name = nameOf(socket)
    const holder = capacity.enter(networkOf(socket.remoteAddress ?? ''), () => socket.destroy())
    const connection: Connection = { socket, holder, exchanges: new Map() }
    connections.set(name, connection)
    socket.once('close', () => {
      holder.leave()
      if (connections.get(name) === connection) connections.delete(name)
      settle(connection)
    })
    holder.take(1)
  })
  // A client that has completed its handshake begins to be silent anew.
  server.on('secureConnection', (socket) => {
    const connection = connections.get(nameOf(socket))
    if (connection === undefined) return
    byTlsSocket.set(socket, connection)
    connection.holder.wait()
  })
  // Runs before the listener that answers, so that the header is set in time.
  server.prependListener('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const connection = byTlsSocket.get(incoming.socket)
    if (connection === undefined) return
    const { exchanges, holder } = connection
    exchanges.set(outgoing, incoming)
    inFlight.add(connection)
    if (onDrained !== undefined) closeAfter(outgoing)
    if (announcesBody(incoming)) incoming.once('end', () => holder.work())
    else holder.work()
    outgoing.once('close', () => {
      exchanges.delete(outgoing)
      if (hasArrived(connection)) return
      holder.wait()
      if (exchanges.size === 0) settle(connection)
    })
  })

  return {
    async drain({ graceMs, arrivalMs }) {
      for (const { exchanges } of inFlight) for (const outgoing of exchanges.keys()) closeAfter(outgoing)
      if (inFlight.size === 0) return
      await new Promise<void>((resolve) => {
        const arrival = setTimeout(() => {
          for (const connection of inFlight) if (!hasArrived(connection)) connection.socket.destroy()
        }, arrivalMs)
        const grace = setTimeout(resolve, graceMs)
        onDrained = () => {
          clearTimeout(arrival)
          clearTimeout(grace)
          resolve()
        }
      })
    },
    keep(socket) {
      connections.get(nameOf(socket))?.holder.work()
    },
    destroy() {
      for (const { socket } of connections.values()) socket.destroy()
    },
  }
}

/** Whether the request that is to be answered next is there whole, so that nobody waits for its client. */
function hasArrived({ exchanges }: Connection): boolean {
  const [next] = exchanges.values()
  return next?.complete === true
}

/** Names a connection by its ends: a TLS socket does not tell which one it was made of. */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}

function closeAfter(outgoing: ServerResponse): void {
  if (!outgoing.headersSent) outgoing.setHeader('connection', 'close')
  else askToEnd(outgoing)
}

/** Emitted on a response that goes on being written, when its server closes. */
const CLOSING = 'portcullis:closing'

/** Asks a response that goes on being written to end; its writer listens by {@link onClosing}. */
function askToEnd(outgoing: ServerResponse): void {
  outgoing.emit(CLOSING)
}

/** Calls `end` when the server of a response closes. */
export function onClosing(outgoing: ServerResponse, end: () => void): void {
  outgoing.once(CLOSING, end)
}

/** Whether the head of a request announces a body: without one of these headers it ends with the head (RFC 9112, 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** A limit that can be one. Throws RangeError, naming the option, for what is no whole number above zero. */
export function positive(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`${option} must be a whole number above zero, not ${value}`)
}
