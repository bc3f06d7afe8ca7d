import { checkOptions, type OptionRules } from '../base/arguments.ts'
import { unlessAborted } from '../concurrency/unless-aborted.ts'
import {
  type AnyRequest,
  eachOf,
  type ListRequest,
  type ListRoute,
  readAnswer,
  requestFor,
  withAdviceOnTrust,
} from './answer.ts'
import { SessionToken } from './session-token.ts'
import type { AnswerOf, AnySignature, RequestArguments, RequestOf } from './types.ts'

/** Sends one request; `globalThis.fetch`, or a controller's own `fetch` for calls without a network. */
export type Fetch = (request: Request) => Promise<Response>

/** The controller to call, and the credentials of the caller. */
export interface ClientOptions {
  /** The controller's address, for example `https://controller.example.org:1280`. */
  readonly baseUrl: string
  /** Default: `globalThis.fetch`, which trusts the certificates that the runtime trusts. */
  readonly fetch?: Fetch
  /**
   * The token of an API session, sent as `zt-session`, or an access token of OpenID Connect, sent as
   * `Authorization: Bearer`. Their form tells them apart.
   */
  readonly token?: string
  /**
   * Logs in and answers the token of the new API session, or an access token. Called before the first request, unless there is a `token`,
   * and again when the controller says that the session has ended; the request is then sent once more. Requests that need a session at the
   * same time share one login. It may take a minute, then these requests reject with a `TimeoutError`; `signal` is aborted then, or when
   * every request that waits was given up. After a login that failed or was given up the next request logs in anew.
   */
  readonly login?: (signal: AbortSignal) => Promise<string>
}

const OPTIONS: OptionRules<ClientOptions> = {
  baseUrl: {
    shape: 'string',
    isNeeded: true,
    hint: "the controller's address, such as 'https://controller.example.org:1280'",
    problem: (url: string) =>
      URL.canParse(url) ? undefined : `is no URL such as https://controller.example.org:1280: '${url}'`,
  },
  fetch: 'function',
  token: 'string',
  login: 'function',
}

const REQUEST: OptionRules<AnyRequest> = {
  params: 'object',
  query: 'object',
  headers: 'object',
  body: 'unknown',
  signal: { shape: 'object', problem: (signal: object) => ('aborted' in signal ? undefined : 'takes an AbortSignal') },
}

/** The operations of an API, by route. */
export type AnyApi<Api> = { readonly [Route in keyof Api]: AnySignature }

/** The arguments behind a route. For an unknown route the type accepts any arguments, so that compilers complain of the route. */
type ArgumentsAt<Api extends AnyApi<Api>, R extends keyof Api & string> = keyof Api & string extends R
  ? [request?: RequestOf<Api[R]>]
  : RequestArguments<Api[R]>

/** Calls operations of one API by their route, typed by their declarations. */
export interface ApiClient<Api extends AnyApi<Api>> {
  /**
   * Calls an operation and answers its `data` and `meta`; operations that serve a document, a token or an image answer text
   * or bytes. `signal` gives up waiting for the answer; whether the controller took the request is then not known.
   *
   * Rejects with `ApiError` when the controller refuses, with the reason of `signal` when it is aborted, and with the
   * error of `fetch` when the controller is not reached.
   *
   * @example
   * const { data: service } = await management.call('GET /services/{id}', { params: { id } })
   */
  call<R extends keyof Api & string>(route: R, ...request: ArgumentsAt<Api, R>): Promise<AnswerOf<Api[R]>>
  /**
   * All items of a list, page after page, in the order of `sort` (by default of the controller). `limit` is the size of a page, 500
   * unless given. An entity that is created or deleted meanwhile may be missed, or come twice, as in any list by pages.
   *
   * @example
   * for await (const identity of management.listAll('GET /identities', { filter: 'isAdmin = true' })) use(identity)
   */
  listAll<R extends ListRoute<Api>>(route: R, request?: ListRequest<Api[R]>): AsyncIterableIterator<Api[R]['data']>
  /** The same client with the token of an API session, or an access token. */
  withToken(token: string): ApiClient<Api>
}

/** Makes a client of the API below a path. */
export function createApiClient<Api extends AnyApi<Api>>(basePath: string, options: ClientOptions): ApiClient<Api> {
  checkOptions('the client', options, OPTIONS, 'an object with a baseUrl')
  const { baseUrl, fetch = advisingFetch } = options
  const session = new SessionToken(options)

  const send = async (route: string, request: AnyRequest | undefined): Promise<unknown> => {
    const attempt = async (token: string | undefined) =>
      fetch(requestFor(`${baseUrl}${basePath}`, route, request, token))
    const answer = async () => readAnswer(await session.with(attempt, request?.signal))
    return request?.signal === undefined ? answer() : unlessAborted(request.signal, answer)
  }
  return {
    // The declaration of the operation, which both sides share, determines the request and the answer.
    call: async (route, ...[request]) => {
      if (request !== undefined) checkOptions(route, request, REQUEST)
      return (await send(route, request as AnyRequest | undefined)) as AnswerOf<Api[typeof route]>
    },
    listAll: (route, request) => eachOf((query) => send(route, query), request),
    withToken: (token) => createApiClient(basePath, { ...options, token }),
  }
}

/** The `fetch` of the runtime, as it is when the request is sent; advice is for clients that have no other one. */
async function advisingFetch(request: Request): Promise<Response> {
  try {
    return await globalThis.fetch(request)
  } catch (error) {
    throw withAdviceOnTrust(error)
  }
}
