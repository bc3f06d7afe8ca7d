import type { PlainAnswer } from '../exchange.ts'
import type { WatchedFetch } from './handler.ts'

/** Lets pages of other origins call the APIs from a browser. */
export interface CorsOptions {
  /** Exactly as browsers send them: `https://console.example`, without path or trailing slash. `*` is not accepted. */
  readonly origins: readonly string[]
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'content-type, accept, authorization, zt-session'
const EXPOSED_HEADERS = [
  'expiration-seconds',
  'expires-at',
  'retry-after',
  'www-authenticate',
  'ziti-authenticator-extend-requested',
  'ziti-instance-id',
  'zt-session',
].join(', ')
const PREFLIGHT_SECONDS = '600'

const PREFLIGHT: PlainAnswer = {
  status: 200,
  headers: {
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
  },
  body: null,
}

/**
 * Answers pre-flight requests of the listed origins and lets them read the answers of `fetch`. Without origins nothing
 * changes. Throws on an invalid origin.
 */
export function withCors(fetch: WatchedFetch, origins: readonly string[]): WatchedFetch {
  if (origins.length === 0) return fetch
  for (const origin of origins) requireOrigin(origin)
  const listed = new Set(origins)
  return async (request, ...rest) => {
    const origin = request.headers.get('origin')
    const isListed = origin !== null && listed.has(origin)
    const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
    const answer = isListed && isPreflight ? PREFLIGHT : await fetch(request, ...rest)
    const { vary } = answer.headers
    const headers = {
      ...answer.headers,
      // Caches must not hand one origin's answer to another, nor an answer without origin to a page.
      vary: vary === undefined ? 'Origin' : `${vary}, Origin`,
      ...(isListed && { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' }),
      ...(isListed && !isPreflight && { 'access-control-expose-headers': EXPOSED_HEADERS }),
    }
    return { ...answer, headers }
  }
}

function requireOrigin(origin: string): void {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin && !/[*]|^null$/.test(origin)
  if (!isOrigin) throw new Error(`cors.origins lists "${origin}", which is no origin such as https://console.example`)
}
