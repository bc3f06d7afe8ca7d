import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LINGER_MS } from '../tracked-connections.ts'
import { isListening, untilSent, webAnswer, writeHead } from './response.ts'

/** Bytes of the client that are read and discarded meanwhile. */
const LINGER_BYTES = 262_144

/**
 * Answers at once although the request has not been read to its end, then closes the connection. Closing with unread bytes would reset the
 * connection and could destroy the response on its way. The connection therefore stays for up to {@link LINGER_MS}, and up to
 * {@link LINGER_BYTES} of the body are discarded as they arrive. A client whose body is slightly too large sends it all and then reads the
 * answer; a client that never stops sending is cut off.
 */
export async function sendEarlyResponse(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const answer = await webAnswer(response)
  if (!isListening(outgoing)) return
  writeHead({ ...answer, headers: [...answer.headers, 'connection', 'close'] }, outgoing)
  const sent = untilSent(outgoing)
  outgoing.write(answer.body)
  await discard(incoming)
  outgoing.end()
  await sent
}

function discard(incoming: IncomingMessage): Promise<void> {
  if (incoming.readableEnded || incoming.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let discarded = 0
    const onData = (chunk: Uint8Array) => {
      discarded += chunk.length
      if (discarded > LINGER_BYTES) incoming.pause()
    }
    const stop = () => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', stop).off('close', stop)
      resolve()
    }
    const timer = setTimeout(stop, LINGER_MS)
    incoming.on('data', onData).on('end', stop).on('close', stop).resume()
  })
}

/** A request that the adapter refuses before the controller sees it; `response` is the client's answer. */
export class RequestRefused extends Error {
  readonly response: Response

  constructor(reason: string, response: Response) {
    super(reason)
    this.name = 'RequestRefused'
    this.response = response
  }
}

/** The client went away before its request was complete, or is to be left without an answer: its connection is closed. */
export class RequestAborted extends Error {
  constructor() {
    super('The client closed the connection before its request was complete')
    this.name = 'RequestAborted'
  }
}

/** Refuses a body of more bytes than accepted: 413, with the one error body that deployed clients get unenveloped. */
export function bodyTooLarge(): RequestRefused {
  const message = 'The request body exceeds the maximum accepted size'
  const text = JSON.stringify({ code: 'REQUEST_ENTITY_TOO_LARGE', message, cause: null })
  return new RequestRefused(message, jsonResponse(413, text))
}

/** Gives up a body that has been arriving for long, for others that need its memory: 429, try again in a second. */
export function tooMuchArriving(): RequestRefused {
  const message = 'Too many requests to alter state have been issued. Please slow your request rate or try again later.'
  const response = errorResponse(429, 'SERVER_TOO_MANY_REQUESTS', message)
  response.headers.set('retry-after', '1')
  return new RequestRefused('The body arrived too slowly while others needed its memory', response)
}

/** Refuses a compressed body: 415, since a small compressed body can hold an arbitrarily large one. */
export function encodingNotSupported(encoding: string): RequestRefused {
  const value = encoding.slice(0, 64)
  const reason = `unsupported content encoding "${value}", only [identity] are allowed`
  const message =
    'The supplied request contains an invalid document or no valid accept content were available, see cause'
  return new RequestRefused(
    reason,
    errorResponse(415, 'COULD_NOT_VALIDATE', message, { field: 'Content-Encoding', reason, value }),
  )
}

/** Refuses a method that a web `Request` cannot carry (TRACE): 405. */
export function methodNotSupported(method: string): RequestRefused {
  const reason = `method ${method} is not allowed`
  return new RequestRefused(
    reason,
    errorResponse(405, 'METHOD_NOT_ALLOWED', 'The resource requested does not support this HTTP verb', {
      code: 'UNHANDLED',
      message: reason,
    }),
  )
}

/** The cause of a failed request, in the field form of an error envelope or as a nested message. */
export interface EnvelopeCause {
  readonly field?: string
  readonly reason?: string
  readonly value?: string
  readonly code?: string
  readonly message?: string
}

/**
 * The enveloped error that the adapter answers when a request never reached the controller, in the shape that clients
 * know from the controller itself: code, message, cause, request id and API versions.
 */
export function errorResponse(status: number, code: string, message: string, cause?: EnvelopeCause): Response {
  const error = { ...(cause === undefined ? {} : { cause }), code, message, requestId: requestId() }
  const meta = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' }
  return jsonResponse(status, JSON.stringify({ error, meta }))
}

/** A response of JSON text. */
function jsonResponse(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

/** Eleven unguessable characters, so that a caller can name the failed request to the operator. */
function requestId(): string {
  return randomBytes(8).toString('base64url')
}
