import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import type { ControllerFetch } from 'portcullis'

/** Answers with what it was asked, so that a test sees the request as the controller does. */
export const echo: ControllerFetch = async (request, connection) =>
  Response.json({
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
    remoteAddress: connection?.remoteAddress,
    hasCertificates: connection?.clientCertificates !== undefined,
  })

/** Serves a listener over plain HTTP on a port of its own while `use` runs. */
export async function withHttpServer<T>(listener: RequestListener, use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not a TCP server')
  try {
    return await use(address.port)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** The lines of a request with an optional body, for a client that says exactly what the test wants it to say. */
export function requestText(requestLine: string, headers: readonly string[] = [], body = ''): string {
  const host = headers.some((line) => /^host:/i.test(line)) ? [] : ['Host: localhost']
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return [`${requestLine} HTTP/1.1`, ...host, ...headers, ...length, 'Connection: close', '', body].join('\r\n')
}

/** Sends bytes as they are and gives everything that came back until the server closed the connection. */
export async function exchange(port: number, ...pieces: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.on('error', () => undefined)
  for (const piece of pieces) socket.write(piece)
  await once(socket, 'close')
  return Buffer.concat(received).toString('latin1')
}

/** Status, header lines and body of a response as received. */
export function parseResponse(text: string): { status: number; head: string; body: string } {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, end)
  return { status: Number(head.split(' ')[1]), head, body: text.slice(end + 4) }
}

/** A promise that somebody else resolves. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
