import { createServer, type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { runtime } from '../../../src/concurrency/process-runtime.ts'
import { type Host, type HostedService, type HostOptions, hostService } from './hosting.ts'
import type { Caller, ServiceConnection } from './service-connection.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The identity that sent the request, where it came through a service that `portcullis/sdk` hosts. */
    caller?: Caller
  }
}

/** Answers a request, as `fetch` does. `env.caller` and `request.caller` are its sender. */
export type FetchApp = (
  request: Request & { readonly caller: Caller },
  env: { readonly caller: Caller },
) => Response | Promise<Response>

/**
 * An application that answers the dialers of a service:
 *
 * - a request listener of `node:http` (an Express app is one), or a server of `node:http`;
 * - an object with `fetch` (a Hono app is one), or `{ fetch }` with a function of the same form;
 * - a function that takes the connection, a `Duplex`.
 *
 * A function with two parameters or more is a request listener, one with a single parameter takes the connection.
 */
export type HostedApp =
  | RequestListener
  | Server
  | { readonly fetch: FetchApp }
  // The apps of frameworks declare their parameters in different ways.
  | { fetch(request: Request, env?: object): Response | Promise<Response> }
  | ((connection: ServiceConnection) => unknown)

/** The settings by which requests reach an app. */
export interface HostedAppOptions {
  /**
   * The header in which requests name the caller's identity; a header of this name that a caller sends is removed. Default: none, apps read
   * `request.caller`.
   */
  readonly callerHeader?: string
}

/** Milliseconds between idle turns: long, because they only hold the process. */
const HOLD_MS = 2 ** 30

/** The apps that an identity hosts. */
export class HostedApps {
  readonly #host: Host
  readonly #holdsProcess: boolean
  readonly #hosted = new Set<HostedService>()
  #release: (() => void) | undefined

  /** With `holdsProcess` the process lasts as long as something is hosted. */
  constructor(host: Host, holdsProcess: boolean) {
    this.#host = host
    this.#holdsProcess = holdsProcess
  }

  async host(service: string, app: HostedApp, options: HostOptions & HostedAppOptions): Promise<HostedService> {
    const server = appServer(app, options)
    const started = await hostService(this.#host, service, (connection) => server.take(connection), options)
    // While the identity changes routers no socket holds the process.
    if (this.#holdsProcess) this.#release ??= runtime.interval(HOLD_MS, () => undefined, true)
    const hosted: HostedService = {
      service,
      get routers() {
        return started.routers
      },
      get connections() {
        return started.connections
      },
      close: async (ending) => {
        this.#forget(hosted)
        server.close()
        await started.close(ending)
      },
      [Symbol.asyncDispose]: () => hosted.close(),
    }
    this.#hosted.add(hosted)
    return hosted
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosted].map((hosted) => hosted.close()))
  }

  #forget(hosted: HostedService): void {
    this.#hosted.delete(hosted)
    if (this.#hosted.size > 0) return
    this.#release?.()
    this.#release = undefined
  }
}

/** Takes connections, and ends the server that was created for them. */
export interface AppServer {
  take(connection: ServiceConnection): void
  /** Requests under way get their answers; new ones are not taken. */
  close(): void
}

/** Passes connections of callers to an app. Throws `TypeError` for any other value. */
export function appServer(app: HostedApp, { callerHeader }: HostedAppOptions = {}): AppServer {
  if (app instanceof Server) return serverOf(app, callerHeader, false)
  if (typeof app === 'object' && app !== null && typeof app.fetch === 'function') {
    // Both forms have the same call.
    const { fetch } = app as { readonly fetch: FetchApp }
    const listener = fetchListener(fetch.bind(app))
    return serverOf(createServer(listener), callerHeader, true)
  }
  if (typeof app === 'function') {
    // The number of parameters distinguishes the two kinds of functions.
    if (app.length >= 2) return serverOf(createServer(app as RequestListener), callerHeader, true)
    if (app.length === 1) {
      const handler = app as (connection: ServiceConnection) => unknown
      return { take: (connection) => handle(handler, connection), close: () => undefined }
    }
  }
  throw new TypeError(
    'a service is hosted by a request listener (request, response), an object with fetch, or a function that takes the connection',
  )
}

/** A handler that fails ends its connection, and no other. */
function handle(handler: (connection: ServiceConnection) => unknown, connection: ServiceConnection): void {
  Promise.resolve(handler(connection)).catch((error: unknown) => {
    connection.destroy(error instanceof Error ? error : new Error(String(error)))
  })
}

function serverOf(server: Server, callerHeader: string | undefined, isOurs: boolean): AppServer {
  const header = callerHeader?.toLowerCase()
  const introduce = (request: IncomingMessage) => introduceCaller(request, header)
  for (const event of ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']) {
    server.prependListener(event, introduce)
  }
  return {
    take: (connection) => server.emit('connection', connection),
    close: () => {
      for (const event of ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']) {
        server.off(event, introduce)
      }
      if (isOurs) server.closeIdleConnections()
    },
  }
}

function introduceCaller(request: IncomingMessage, header: string | undefined): void {
  // Requests that reached the same server by another way have no caller.
  const caller: Caller | undefined = Reflect.get(request.socket, 'caller')
  if (caller !== undefined) request.caller = caller
  if (header === undefined) return
  delete request.headers[header]
  delete request.headersDistinct[header]
  for (let index = request.rawHeaders.length - 2; index >= 0; index -= 2) {
    if (request.rawHeaders[index]?.toLowerCase() === header) request.rawHeaders.splice(index, 2)
  }
  const told = caller?.name ?? caller?.id
  if (told === undefined) return
  request.headers[header] = told
  request.headersDistinct[header] = [told]
  request.rawHeaders.push(header, told)
}

function fetchListener(fetch: FetchApp): RequestListener {
  return (incoming, outgoing) => {
    answer(fetch, incoming, outgoing).catch((error: unknown) => {
      if (outgoing.headersSent) outgoing.destroy(error instanceof Error ? error : undefined)
      else outgoing.writeHead(500).end()
    })
  }
}

const NOBODY: Caller = { id: undefined, name: undefined, claimedName: '', isProved: false }

async function answer(fetch: FetchApp, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const caller = incoming.caller ?? NOBODY
  const request = Object.assign(requestOf(incoming, outgoing), { caller })
  const response = await fetch(request, { caller })
  outgoing.statusCode = response.status
  if (response.statusText !== '') outgoing.statusMessage = response.statusText
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') outgoing.setHeader(name, value)
  }
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
  if (response.body === null) {
    outgoing.end()
    return
  }
  const body = Readable.fromWeb(response.body)
  body.on('error', () => outgoing.destroy())
  outgoing.once('close', () => body.destroy())
  body.pipe(outgoing)
}

function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/', rawHeaders } = incoming
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  }
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  const base = `http://${URL.canParse(`http://${headers.get('host')}`) ? headers.get('host') : 'service'}`
  const target = URL.canParse(url, base) ? new URL(url, base) : new URL(base)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(target, {
    ...{ method, headers, signal: gone.signal },
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' as const }),
  })
}
