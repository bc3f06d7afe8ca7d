import { Agent, type ClientRequestArgs, type IncomingMessage, request as openRequest } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import type { DialOptions } from './dialing.ts'
import type { ServiceConnection } from './service-connection.ts'

/** Dials a service by name. */
export type Dial = (service: string, options?: DialOptions) => Promise<ServiceConnection>

/**
 * An agent of `node:http` whose hosts are services: `http://payroll/…` is a request to the service `payroll`. Connections are kept
 * for the next request. Names of hosts are in small letters, so that no service with a capital is one.
 */
export class ServiceAgent extends Agent {
  readonly #dial: Dial

  constructor(dial: Dial) {
    super({ keepAlive: true })
    this.#dial = dial
  }

  /** Called by `node:http` for a connection; tells by `done` when there is one. */
  override createConnection(
    options: ClientRequestArgs,
    done?: (error: Error | null, connection: Duplex) => void,
  ): null | undefined {
    const service = options.host ?? options.hostname ?? ''
    this.#dial(service).then(
      (connection) => {
        // As of TCP: an app that ends its direction has closed the connection, which no further request may use.
        connection.allowHalfOpen = false
        done?.(null, connection)
      },
      // No connection goes with an error.
      (error: Error) => (done as ((error: Error) => void) | undefined)?.(error),
    )
    return undefined
  }
}

/** Members of a request's init that are taken. */
export interface ServiceRequestInit extends RequestInit {
  readonly duplex?: 'half'
}

/** A `fetch` whose hosts are services. Redirects are answered, not followed: they may lead out of the network. */
export function serviceFetch(
  agent: Agent,
): (input: string | URL | Request, init?: ServiceRequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init)
    const { method, url, signal, body } = request
    const { protocol, hostname, port, pathname, search } = new URL(url)
    if (protocol !== 'http:') throw new TypeError(`services are fetched by http://SERVICE/…, not ${protocol}`)
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = Object.fromEntries(request.headers)
      const host = decodeURIComponent(hostname)
      const outgoing = openRequest(
        { agent, method, headers, signal, host, port, path: `${pathname}${search}` },
        resolve,
      )
      outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error))
      if (body === null) outgoing.end()
      else
        Readable.fromWeb(body)
          .on('error', (error) => outgoing.destroy(error))
          .pipe(outgoing)
    })
    return responseOf(incoming)
  }
}

/** Statuses whose answers have no body, not even an empty one. */
const BODILESS = [101, 204, 205, 304]

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = '', rawHeaders } = incoming
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  }
  const isBodiless = BODILESS.includes(status)
  if (isBodiless) incoming.resume()
  const body = isBodiless ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>)
  return new Response(body, { status, statusText, headers })
}

/** A dispatcher as the global `fetch` of the runtime takes it. */
export type FetchDispatcher = RequestInit extends { readonly dispatcher?: infer Dispatcher }
  ? NonNullable<Dispatcher>
  : object

/** A request as `fetch` hands it to its dispatcher. */
interface DispatchedRequest {
  readonly origin?: string | URL
  readonly path: string
  readonly method: string
  readonly headers?: Readonly<Record<string, string>> | null
  readonly body?: AsyncIterable<Uint8Array> | string | Uint8Array | null
}

/** The request that waits for the answer. */
interface AnswerHandler {
  onConnect?(abort: (reason?: Error) => void): void
  onHeaders?(status: number, headers: readonly Buffer[], resume: () => void, statusText: string): boolean
  onData?(chunk: Uint8Array): boolean
  onComplete?(trailers: readonly Buffer[]): void
  onError?(error: Error): void
}

/** A dispatcher for the global `fetch`, whose hosts are services. */
export function serviceDispatcher(agent: Agent): FetchDispatcher {
  const dispatch = (
    { origin = '', path, method, headers, body }: DispatchedRequest,
    handler: AnswerHandler,
  ): boolean => {
    const { hostname, port } = new URL(String(origin))
    const host = decodeURIComponent(hostname)
    const outgoing = openRequest({ agent, method, path, host, port, headers: headers ?? {} }, (incoming) => {
      const rawHeaders = incoming.rawHeaders.map((text) => Buffer.from(text, 'latin1'))
      const resume = () => void incoming.resume()
      incoming.on('data', (chunk: Uint8Array) => {
        if (handler.onData?.(chunk) === false) incoming.pause()
      })
      incoming.once('end', () => handler.onComplete?.([]))
      incoming.once('error', (error) => handler.onError?.(error))
      handler.onHeaders?.(incoming.statusCode ?? 502, rawHeaders, resume, incoming.statusMessage ?? '')
    })
    outgoing.once('error', (error) => handler.onError?.(error))
    handler.onConnect?.((reason) => outgoing.destroy(reason))
    if (body === null || body === undefined) outgoing.end()
    else if (typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body)
    else
      Readable.from(body)
        .on('error', (error) => outgoing.destroy(error))
        .pipe(outgoing)
    return true
  }
  // `fetch` calls this function of it and no other.
  return { dispatch } as unknown as FetchDispatcher
}
