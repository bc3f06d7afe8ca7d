import { createHash } from 'node:crypto'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { ConnectionInfo, ControllerFetch, PlainAnswer } from '../../../src/index.ts'
import { WebSocketStream } from '../../network/channel/index.ts'
import { RequestRefused, sendEarlyResponse } from './http/early-response.ts'
import { readRequest } from './http/request.ts'
import { plainAnswer, sendAnswer } from './http/response.ts'
import { endConnection } from './tracked-connections.ts'

/** Where programs of operators open their channel. */
const PATH = '/fabric/v1/ws-api'
/** The value that RFC 6455 has servers put behind the key of a client. */
const HANDSHAKE_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const VERSION = '13'
/** The length of a key: 16 bytes in Base64. */
const KEY = /^[A-Za-z0-9+/]{22}==$/

/** How connections go on as channels of operators' programs. */
export interface OperatorPort {
  readonly fetch: ControllerFetch
  readonly infoOf: (incoming: IncomingMessage) => ConnectionInfo
  readonly onError: (error: unknown) => void
  /** Called with every connection that has left HTTP. */
  readonly onTaken: (socket: TLSSocket) => void
}

/** Reports whether a request asks for the channel of operators; everything else is answered as ever. */
export function asksForOperatorChannel({ url, method }: IncomingMessage): boolean {
  return method === 'GET' && (url ?? '').split('?')[0] === PATH
}

/** Upgrades requests for the channel of operators, when the controller admits them. */
export function serveOperators(server: Server, port: OperatorPort): void {
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (!asksForOperatorChannel(incoming) || port.fetch.plain === undefined) {
      // Some runtimes hand over every request that names another protocol.
      server.emit('request', incoming, answerOn(incoming, socket))
      return
    }
    goOn(incoming, socket, head, port).catch((error: unknown) => {
      if (error instanceof RequestRefused)
        return sendEarlyResponse(error.response, incoming, answerOn(incoming, socket))
      socket.destroy()
      port.onError(error)
    })
  })
}

async function goOn(
  incoming: IncomingMessage,
  socket: Duplex,
  head: Uint8Array,
  { fetch, infoOf, onTaken }: OperatorPort,
): Promise<void> {
  const { plain } = fetch
  if (plain === undefined) return void socket.destroy()
  const info = infoOf(incoming)
  const answer = await plain(await readRequest(incoming, {}), info)
  const { upgrade } = answer
  const key = incoming.headers['sec-websocket-key'] ?? ''
  const isWebSocket =
    incoming.headers.upgrade?.toLowerCase() === 'websocket' &&
    incoming.headers['sec-websocket-version'] === VERSION &&
    KEY.test(key)
  if (upgrade === undefined || !isWebSocket) return send(answer, incoming, socket)
  const { openOperatorConnection } = await import('../../network/fabric/index.ts')
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${createHash('sha1').update(`${key}${HANDSHAKE_SUFFIX}`).digest('base64')}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  if (socket instanceof TLSSocket) {
    socket.setTimeout(0)
    socket.setNoDelay(true)
    onTaken(socket)
  }
  openOperatorConnection(new WebSocketStream(socket, head), upgrade)
}

/** Answers a request that does not go on as a channel; nothing follows on its connection. */
function send(answer: PlainAnswer, incoming: IncomingMessage, socket: Duplex): void {
  const written = plainAnswer(answer)
  if ('stream' in written) socket.destroy()
  else sendAnswer(written, answerOn(incoming, socket))
}

function answerOn(incoming: IncomingMessage, socket: Duplex): ServerResponse {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  // This server has TLS sockets only.
  outgoing.assignSocket(socket as TLSSocket)
  outgoing.once('finish', () => endConnection(socket))
  return outgoing
}
