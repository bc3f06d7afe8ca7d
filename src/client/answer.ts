import { type AnySignature, ApiError, type ApiErrorBody, type ListMeta, type Params, type WholeQuery } from './types.ts'

/** Media types of answers that are neither JSON nor images, and are read as text. */
const TEXTS = ['application/jwt', 'application/pkcs7-mime', 'text/yaml']

/**
 * Reads the content of a response: JSON, the text of a token or a document, or the bytes of an image. Throws {@link
 * ApiError} when the controller refused, or when the responding server is no controller.
 */
export async function readAnswer(response: Response): Promise<unknown> {
  const [mediaType = ''] = (response.headers.get('content-type') ?? '').split(';')
  if (response.ok && mediaType.startsWith('image/')) return new Uint8Array(await response.arrayBuffer())
  if (response.ok && TEXTS.includes(mediaType)) return response.text()
  const text = await response.text()
  const refused = (error: ApiErrorBody | undefined) => new ApiError(response.status, error, retryAfterMs(response))
  const answer = parsed(text)
  if (answer === undefined)
    throw refused({ message: 'the answer is no JSON: something else answered than a controller' })
  if (!response.ok) throw refused(errorOf(answer))
  return answer
}

/** Parses JSON text; undefined for invalid text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Controllers send seconds; the other form of the header, an instant, is not theirs. */
function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10)
  return Number.isNaN(seconds) ? undefined : seconds * 1000
}

/** The refusal inside of the envelope, or without one: a body that is too large is answered bare. */
function errorOf(answer: unknown): ApiErrorBody | undefined {
  if (!isObject(answer)) return undefined
  if (isObject(answer.error)) return answer.error
  return typeof answer.code === 'string' ? answer : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** The routes of an API that answer lists by pages. */
export type ListRoute<Api> = {
  [R in keyof Api]: Api[R] extends { readonly kind: 'list' | 'roleList' } ? R : never
}[keyof Api] &
  string

/** A request for a list, without the place of a page in it: its query, and the parameters of its path. */
export type ListRequest<S extends AnySignature> = Omit<WholeQuery<S>, 'offset'> &
  Partial<Params<S['route']>> & { readonly signal?: AbortSignal }

interface ListPage {
  readonly data: readonly never[]
  readonly meta: ListMeta
}

/** The largest page of every API. The client has its own constant, because it loads nothing of the controller. */
const PAGE_SIZE = 500

/** The items of all pages that `ask` answers, in order. */
export async function* eachOf(
  ask: (request: AnyRequest) => Promise<unknown>,
  { params, signal, ...query }: Pick<AnyRequest, 'params' | 'signal'> & { readonly limit?: number } = {},
): AsyncIterableIterator<never> {
  for (let offset = 0; ; ) {
    const request = { params, signal, query: { limit: PAGE_SIZE, ...query, offset } }
    // Every operation that answers by pages has this form.
    const { data, meta } = (await ask(request)) as ListPage
    yield* data
    offset += data.length
    if (data.length === 0 || offset >= meta.pagination.totalCount) return
  }
}

/** The parts that a request may have, whatever its operation is. */
export interface AnyRequest {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: object | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Makes the request that calls an operation below `base`. Throws `TypeError` when the route or a path parameter is missing. */
export function requestFor(
  base: string,
  route: string,
  request: AnyRequest = {},
  token: string | undefined = undefined,
): Request {
  if (typeof route !== 'string') throw new TypeError("call takes a route, such as 'GET /services'")
  const [method = 'GET', template = '/'] = route.split(' ')
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(route, name, request.params?.[name]))
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) url.searchParams.append(name, String(item))
    }
  }
  const headers = new Headers(request.headers ?? {})
  if (token !== undefined) setToken(headers, token)
  const init = { method, headers, ...(request.signal && { signal: request.signal }) }
  if (request.body === undefined) return new Request(url, init)
  // No operation takes JSON that is a single text: a certificate or a signing request travels as it is.
  const isText = typeof request.body === 'string'
  headers.set('content-type', isText ? 'text/plain' : 'application/json')
  return new Request(url, { ...init, body: isText ? String(request.body) : JSON.stringify(request.body) })
}

/** Access tokens of OpenID Connect are JWTs, whose three parts are separated by dots; tokens of other API sessions have none. */
function setToken(headers: Headers, token: string): void {
  if (token.split('.').length === 3) headers.set('authorization', `Bearer ${token}`)
  else headers.set('zt-session', token)
}

/** Without the check the call would reach another operation: that of the list, or of the path above. */
function pathPart(route: string, name: string, value: string | undefined): string {
  if (!value || value === '.' || value === '..') throw new TypeError(`${route} needs params.${name}`)
  return encodeURIComponent(value)
}

/** OpenSSL's codes for a certificate without a chain to a trusted one. */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

/** Reports whether a request failed because the certificate of the server is not trusted. */
export function isUntrusted(error: unknown): error is Error {
  return error instanceof Error && UNTRUSTED.includes(String(Reflect.get(error, 'code')))
}

/** The same failure with advice, where it comes from the `fetch` of a runtime, which gives the reason in its cause. */
export function withAdviceOnTrust(error: unknown): unknown {
  if (!(error instanceof Error) || !isUntrusted(error.cause)) return error
  const advice = 'pass fetch: httpsFetch({ ca }) of portcullis/node'
  return new TypeError(`the controller's certificate is not trusted: ${advice}`, { cause: error.cause })
}
