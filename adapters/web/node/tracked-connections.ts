import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Server } from 'node:tls'
import { networkOf } from '../../../src/base/addresses.ts'
import { type CapacityOptions, createFairCapacity, type Holder } from '../../../src/concurrency/fair-capacity.ts'

/** The connections of a server and the requests in flight on them. */
export interface Connections {
  /**
   * Asks clients to leave after their current or next response, and closes connections on which none comes. Resolves when no request is in
   * flight and clients have heard of the end, or after `graceMs`. Requests that have not arrived whole are given up after `arrivalMs`.
   */
  drain(times: { readonly graceMs: number; readonly arrivalMs: number }): Promise<void>
  /** Exempts a connection from the limit: another component bounds it. */
  keep(socket: Socket): void
  /** Ends every connection at once, also those still in their TLS handshake. */
  destroy(): void
}

interface Connection {
  readonly socket: Socket
  /** The TLS socket over it, once the handshake is done. */
  tls: Socket | undefined
  /** Another part of the server has taken it. */
  isKept: boolean
  /** This end has said that it sends nothing more. */
  isEnded: boolean
  readonly holder: Holder
  /** The requests that it waits for answers to, in order; several where a client sends ahead. */
  readonly exchanges: Map<ServerResponse, IncomingMessage>
}

/** Milliseconds within which a closing server answers a request that was on its way, or follows at once. */
const ON_THE_WAY_MS = 250
/** Milliseconds for clients to close their end of a connection. */
const LEAVING_MS = 1000

/**
 * Follows the connections of a server from before it listens, and holds them to a limit: a connection beyond the limit takes the place of
 * the longest silent connection of the address with the most connections. A connection whose request is being answered is never ended for
 * another; if all are being answered, the new connection ends.
 */
export function trackConnections(server: Server, limits: CapacityOptions): Connections {
  const capacity = createFairCapacity(limits)
  const connections = new Map<string, Connection>()
  /** The same by the socket of TLS, once the handshake has made one. */
  const byTlsSocket = new WeakMap<Socket, Connection>()
  const inFlight = new Set<Connection>()
  let isDraining = false
  /** Called whenever a connection has no request in flight any more, or is gone. */
  let onSettled: (() => void) | undefined
  const settle = (connection: Connection) => {
    inFlight.delete(connection)
    onSettled?.()
  }
  /** Resolves when `holds` is true, which is asked whenever a connection settles, or after `ms`. */
  const settled = (holds: () => boolean, ms: number) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        onSettled = undefined
        resolve()
      }
      const timer = setTimeout(end, ms)
      onSettled = () => {
        if (holds()) end()
      }
      onSettled()
    })
  /** Connections past the TLS handshake that no other component bounds. */
  const ofClients = () => [...connections.values()].filter(({ tls, isKept }) => tls !== undefined && !isKept)

  // Runs before the listener that begins the handshake, which skips a connection that is gone.
  server.prependListener('connection', (socket: Socket) => {
    const name = nameOf(socket)
    const holder = capacity.enter(networkOf(socket.remoteAddress ?? ''), () => socket.destroy())
    const state = { tls: undefined, isKept: false, isEnded: false }
    const connection: Connection = { socket, ...state, holder, exchanges: new Map() }
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
    connection.tls = socket
    byTlsSocket.set(socket, connection)
    connection.holder.wait()
  })
  // Runs before the listener that answers, so that the header is set in time.
  server.prependListener('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const connection = byTlsSocket.get(incoming.socket)
    if (connection === undefined) return
    // It cannot be answered: its client learns of the end before anything is done.
    if (connection.isEnded) return void connection.tls?.destroy()
    const { exchanges, holder } = connection
    exchanges.set(outgoing, incoming)
    inFlight.add(connection)
    if (isDraining) closeAfter(outgoing)
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
      isDraining = true
      for (const { exchanges } of inFlight) for (const outgoing of exchanges.keys()) closeAfter(outgoing)
      const arrival = setTimeout(() => {
        for (const connection of inFlight) if (!hasArrived(connection)) connection.socket.destroy()
      }, arrivalMs)
      const onTheWayMs = Math.min(graceMs, ON_THE_WAY_MS)
      await settled(() => ofClients().length === 0, onTheWayMs)
      await settled(() => inFlight.size === 0, graceMs - onTheWayMs)
      clearTimeout(arrival)
      for (const connection of ofClients()) {
        if (inFlight.has(connection)) continue
        connection.isEnded = true
        connection.tls?.end()
      }
      await settled(() => ofClients().every(({ isEnded }) => !isEnded), Math.min(graceMs, LEAVING_MS))
    },
    keep(socket) {
      const connection = connections.get(nameOf(socket))
      if (connection === undefined) return
      connection.isKept = true
      connection.holder.work()
    },
    destroy() {
      for (const { socket } of connections.values()) socket.destroy()
    },
  }
}

/** Whether the next request has arrived whole, so that the server does not wait for its client. */
function hasArrived({ exchanges }: Connection): boolean {
  const [next] = exchanges.values()
  return next?.complete === true
}

/** Names a connection by its ends: a TLS socket does not show the socket below it. */
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

/** A valid limit. Throws RangeError, naming the option, unless it is a whole number above zero. */
export function positive(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`${option} must be a whole number above zero, not ${value}`)
}

/** How long a client may take to read the last answer of its connection, in ms. */
export const LINGER_MS = 1000

/** Ends a connection behind its last answer. Its server has given the socket away, and with it the limits of its time. */
export function endConnection(socket: Duplex): void {
  socket.end()
  const closing = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(closing))
  socket.resume()
}
