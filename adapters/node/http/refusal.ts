import { errorResponse, jsonResponse } from './error-envelope.ts'

/** A request that the adapter refuses before the controller sees it; `response` is what the client is told. */
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
