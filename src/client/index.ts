import type { ClientApi, ManagementApi, PortcullisApi } from '../http/api.ts'
import { readAnswer } from './answer.ts'
import type { AnswerOf, AnySignature, RequestArguments } from './types.ts'

export type { ClientApi, ManagementApi, PortcullisApi } from '../http/api.ts'
export type * from '../resources/wire/wire-names.ts'
export { type AnswerOf, ApiError, type RequestArguments, type RequestOf } from './types.ts'

/** Sends one request; `globalThis.fetch`, or a controller's own `fetch` for calls without a network. */
export type Fetch = (request: Request) => Promise<Response>

/** Which controller is called, how and as whom. */
export interface ClientOptions {
  /** The controller's address, for example `https://controller.example.org:1280`. */
  readonly baseUrl: string
  /** Default: `globalThis.fetch`, which trusts the certificates that the runtime trusts. */
  readonly fetch?: Fetch
  /** The API session token, sent as `zt-session`. */
  readonly token?: string
}

/** What is known of the operations of an API, by route. */
type AnyApi<Api> = { readonly [Route in keyof Api]: AnySignature }

/** Calls operations of one API by their route, typed by their declarations. */
export interface ApiClient<Api extends AnyApi<Api>> {
  /**
   * Calls an operation, for example `call('GET /services/{id}', { params: { id } })`, and answers its `data` and `meta`;
   * operations that serve a document, a token or an image answer text or bytes. Rejects with {@link ApiError} when the
   * controller refuses.
   */
  call<R extends keyof Api & string>(route: R, ...request: RequestArguments<Api[R]>): Promise<AnswerOf<Api[R]>>
  /** The same client with an API session. */
  withToken(token: string): ApiClient<Api>
}

/** A client of the management API. */
export function createManagementClient(options: ClientOptions): ApiClient<ManagementApi> {
  return createApiClient('/edge/management/v1', options)
}

/** A client of the client API: what an identity does for itself. */
export function createClient(options: ClientOptions): ApiClient<ClientApi> {
  return createApiClient('/edge/client/v1', options)
}

/** A client of our own API: explanations and simulations of access. */
export function createPortcullisClient(options: ClientOptions): ApiClient<PortcullisApi> {
  return createApiClient('/portcullis/v1', options)
}

function createApiClient<Api extends AnyApi<Api>>(basePath: string, options: ClientOptions): ApiClient<Api> {
  const { baseUrl, fetch = globalThis.fetch, token } = options
  return {
    withToken: (next) => createApiClient(basePath, { ...options, token: next }),
    call: async (route, ...[request]) => {
      // Whatever the operation is, its request has these parts.
      const parts = request as AnyRequest | undefined
      const response = await fetch(requestFor(`${baseUrl}${basePath}`, route, parts, token))
      // The declaration of the operation, which both sides share, says what the answer holds.
      return (await readAnswer(response)) as AnswerOf<Api[typeof route]>
    },
  }
}

interface AnyRequest {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: object | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
}

function requestFor(base: string, route: string, request: AnyRequest = {}, token: string | undefined): Request {
  const [method = 'GET', template = '/'] = route.split(' ')
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(route, name, request.params?.[name]))
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) url.searchParams.append(name, String(item))
    }
  }
  const headers = new Headers(request.headers ?? {})
  if (token !== undefined) headers.set('zt-session', token)
  if (request.body === undefined) return new Request(url, { method, headers })
  // No operation takes JSON that is a single text: a certificate or a signing request travels as it is.
  const isText = typeof request.body === 'string'
  headers.set('content-type', isText ? 'text/plain' : 'application/json')
  return new Request(url, { method, headers, body: isText ? String(request.body) : JSON.stringify(request.body) })
}

/** Without the check the call would reach another operation: that of the list, or of the path above. */
function pathPart(route: string, name: string, value: string | undefined): string {
  if (!value || value === '.' || value === '..') throw new TypeError(`${route} needs params.${name}`)
  return encodeURIComponent(value)
}
