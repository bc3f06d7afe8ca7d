import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import type { FairCapacity } from '../sockets/fair-capacity.ts'

/**
 * Sends a web `Response` and resolves once it has been handed to the network, or once the client is gone.
 * The body is sent whole with its Content-Length, never chunked; every Set-Cookie keeps a line of its own.
 * Rejects only when the body of the response cannot be read.
 *
 * @example
 * await sendResponse(new Response('hello'), outgoing)
 */
export function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  return sendCounted(response, outgoing)
}

/** The same, of an answer whose memory is counted: a client that reads slowly loses it when others need the memory. */
export async function sendCounted(response: Response, outgoing: ServerResponse, unsent?: UnsentShare): Promise<void> {
  const body = new Uint8Array(await response.arrayBuffer())
  if (!isListening(outgoing)) return
  setHead(response, outgoing, body.length)
  const sent = untilSent(outgoing)
  outgoing.end(body)
  const holder = unsent?.capacity.enter(unsent.network, () => outgoing.destroy())
  holder?.take(body.length)
  await sent
  holder?.leave()
}

/** The memory, in bytes, of answers that have not been sent, and the network that this one counts for. */
export interface UnsentShare {
  readonly capacity: FairCapacity
  readonly network: string
}

/** Whether somebody still waits for this response, and it has not been started. */
export function isListening(outgoing: ServerResponse): boolean {
  return !outgoing.destroyed && !outgoing.headersSent && !outgoing.writableEnded
}

/** Sets status and headers of a response whose body has `length` bytes. */
export function setHead(response: Response, outgoing: ServerResponse, length: number): void {
  outgoing.statusCode = response.status
  if (response.statusText !== '') outgoing.statusMessage = response.statusText
  for (const [name, value] of response.headers) {
    if (name === 'set-cookie') outgoing.appendHeader(name, value)
    else if (name !== 'transfer-encoding') outgoing.setHeader(name, value)
  }
  // RFC 9110: these two have no body, and 204 forbids the header.
  if (response.status !== 204 && response.status !== 304) outgoing.setHeader('content-length', length)
}

/** Resolves when the response is on its way or the connection is gone: a client that left is no error. */
export function untilSent(outgoing: ServerResponse): Promise<void> {
  return finished(outgoing, { readable: false }).catch(() => undefined)
}
