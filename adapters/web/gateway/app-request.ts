import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { LINGER_MS } from '../node/tracked-connections.ts'
import { answerHeaders, type ForwardedRequest, requestHeaders } from './forwarded-headers.ts'
import type { GatewayLogin } from './gateway-logins.ts'
import type { GatewayAnswer } from './gateway-pages.ts'

/** A request that goes to an app. */
export interface AppExchange extends ForwardedRequest {
  readonly login: GatewayLogin
  /** The name of the service. */
  readonly service: string
  readonly times: AppTimes
  /** Answers in place of the app: it could not be reached, or its answer could not be read. */
  fail(error: unknown): void
}

/** The times of a connection to an app, in ms. */
export interface AppTimes {
  /** From the end of a request to the beginning of its answer. */
  readonly answerMs: number
  /** Without a byte in either direction. */
  readonly idleMs: number
}

/** The app took too long, or answered what is no HTTP. */
export class AppFailed extends Error {
  readonly answer: GatewayAnswer

  constructor(answer: GatewayAnswer) {
    super(answer.text)
    this.answer = answer
  }
}

const TOO_LATE: GatewayAnswer = {
  ...{ status: 504, code: 'APP_TIMED_OUT', title: 'The app does not answer' },
  text: 'The app took the request and did not answer in time.',
}
/** The error of an app that begins no answer in time. */
export function tooLate(): AppFailed {
  return new AppFailed(TOO_LATE)
}

const UNREADABLE: GatewayAnswer = {
  ...{ status: 502, code: 'APP_UNREADABLE', title: 'The app answered something else' },
  text: 'The answer of the app is no HTTP.',
}

/** Sends a request to its app over a circuit of the caller, and the answer back, both piece by piece. */
export function forwardRequest(exchange: AppExchange, outgoing: ServerResponse): void {
  const { incoming, fail, host, times } = exchange
  const upstream = openUpstream(exchange, requestHeaders(exchange))
  incoming.socket.setTimeout(times.idleMs)
  let late: NodeJS.Timeout | undefined
  const waitForAnswer = () => {
    late ??= setTimeout(() => upstream.destroy(tooLate()), times.answerMs)
  }
  upstream.once('response', (answer) => {
    clearTimeout(late)
    sendBack(answer, outgoing, incoming, host)
  })
  upstream.once('upgrade', (_answer, app) => {
    clearTimeout(late)
    app.destroy()
    fail(new AppFailed(UNREADABLE))
  })
  upstream.once('error', (error) => {
    clearTimeout(late)
    incoming.unpipe(upstream)
    fail(error)
  })
  incoming.once('end', waitForAnswer)
  incoming.once('error', () => upstream.destroy())
  outgoing.once('close', () => {
    clearTimeout(late)
    upstream.destroy()
  })
  incoming.pipe(upstream)
}

/** Opens a request to the app of an exchange. Each connection is a circuit of the caller, which no other caller uses. */
export function openUpstream({ incoming, login, service }: AppExchange, headers: readonly string[]): ClientRequest {
  const { method = 'GET', url: path = '/' } = incoming
  const { agent } = login.identity
  return openRequest({ agent, method, path, host: service, headers: [...headers], setHost: false })
}

/** The answer for a caller whose app failed; undefined for another error. */
export function answerOfFailure(error: unknown): GatewayAnswer | undefined {
  if (error instanceof AppFailed) return error.answer
  const code = error instanceof Error ? String(Reflect.get(error, 'code')) : ''
  return /^(?:HPE_|ERR_HTTP|ERR_INVALID_(?:CHAR|HTTP))/.test(code) ? UNREADABLE : undefined
}

/** Sends the answer of an app to the browser, as fast as the browser reads it. */
export function sendBack(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
  host: string,
): void {
  if (outgoing.headersSent || outgoing.destroyed) return void answer.destroy()
  const { statusCode: status = 502 } = answer
  const headers = answerHeaders(answer, host)
  // The rest of a request that was answered early would be read without end.
  if (!incoming.complete) headers.push('connection', 'close')
  try {
    outgoing.writeHead(status, headers)
  } catch (error) {
    answer.destroy(error instanceof Error ? error : undefined)
    outgoing.destroy()
    return
  }
  outgoing.flushHeaders()
  pipeline(answer, outgoing, () => {
    if (incoming.complete || incoming.destroyed) return
    incoming.unpipe()
    incoming.resume()
    setTimeout(() => incoming.destroy(), LINGER_MS).unref()
  })
}
