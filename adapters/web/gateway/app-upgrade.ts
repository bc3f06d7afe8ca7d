import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { endConnection } from '../node/tracked-connections.ts'
import { type AppExchange, openUpstream, sendBack, tooLate } from './app-request.ts'
import { answerHeaders, requestHeaders } from './forwarded-headers.ts'

/** Milliseconds for a browser to close its end of a websocket whose app has closed its own. */
const CLOSING_MS = 5000

/** The only protocol that a connection may change to: others, such as `h2c`, would carry requests past the gateway. */
export function asksForWebsocket({ headers, method }: IncomingMessage): boolean {
  const { upgrade = '', 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return method === 'GET' && upgrade.toLowerCase() === 'websocket' && length === '0' && encoding === undefined
}

/** An answer to a request whose socket the server has given away. Its connection ends with it. */
export function answerOn(incoming: IncomingMessage, socket: Duplex): ServerResponse {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  // The socket of a server is one of `node:net`, which the declaration of the event does not say.
  outgoing.assignSocket(incoming.socket)
  outgoing.once('finish', () => {
    outgoing.detachSocket(incoming.socket)
    endConnection(socket)
  })
  return outgoing
}

/** Opens a websocket to an app, and passes on what each end sends until both have ended, or either is gone. */
export function forwardUpgrade(exchange: AppExchange, socket: Duplex, head: Buffer, outgoing: ServerResponse): void {
  const { incoming, fail, host, times } = exchange
  const upstream = openUpstream(exchange, requestHeaders(exchange, 'websocket'))
  const giveUp = () => void upstream.destroy()
  socket.once('close', giveUp)
  const late = setTimeout(() => upstream.destroy(tooLate()), times.answerMs)
  upstream.once('response', (answer) => {
    clearTimeout(late)
    sendBack(answer, outgoing, incoming, host)
  })
  upstream.once('error', (error) => {
    clearTimeout(late)
    fail(error)
  })
  upstream.once('upgrade', (answer, app, early) => {
    clearTimeout(late)
    socket.off('close', giveUp)
    if (socket.destroyed || answer.headers.upgrade?.toLowerCase() !== 'websocket') {
      app.destroy()
      fail(new Error('the app changed to another protocol'))
      return
    }
    outgoing.detachSocket(incoming.socket)
    socket.write(switching(answerHeaders(answer, host)))
    if (early.length > 0) socket.write(early)
    if (head.length > 0) app.write(head)
    join(socket, app, times.idleMs, incoming)
  })
  upstream.end()
}

function switching(headers: readonly string[]): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket']
  for (let index = 0; index + 1 < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function join(browser: Duplex, app: Duplex, idleMs: number, { socket }: IncomingMessage): void {
  const cut = () => {
    browser.destroy()
    app.destroy()
  }
  // Either end may end its own direction and still read.
  browser.allowHalfOpen = true
  app.allowHalfOpen = true
  socket.setTimeout(idleMs, cut)
  browser.on('error', cut)
  app.on('error', cut)
  browser.once('close', () => app.destroy())
  app.once('close', () => {
    if (!app.readableEnded) return cut()
    const closing = setTimeout(cut, CLOSING_MS)
    closing.unref()
    browser.once('close', () => clearTimeout(closing))
  })
  browser.pipe(app)
  app.pipe(browser)
}
