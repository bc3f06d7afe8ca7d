import type { WatchedFetch } from './request-watch.ts'

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

/**
 * Answers pre-flight requests of the listed origins and lets them read the answers of `fetch`. Without origins nothing
 * changes. Throws on what is no origin.
 */
export function withCors(fetch: WatchedFetch, origins: readonly string[]): WatchedFetch {
  if (origins.length === 0) return fetch
  for (const origin of origins) requireOrigin(origin)
  const listed = new Set(origins)
  return async (request, ...rest) => {
    const origin = request.headers.get('origin')
    const isListed = origin !== null && listed.has(origin)
    const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
    const response = isListed && isPreflight ? preflight() : await fetch(request, ...rest)
    // Caches must not hand one origin's answer to another, nor an answer without origin to a page.
    response.headers.append('vary', 'Origin')
    if (!isListed) return response
    response.headers.set('access-control-allow-origin', origin)
    response.headers.set('access-control-allow-credentials', 'true')
    if (!isPreflight) response.headers.set('access-control-expose-headers', EXPOSED_HEADERS)
    return response
  }
}

function preflight(): Response {
  const headers = {
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': PREFLIGHT_SECONDS,
  }
  return new Response(null, { status: 200, headers })
}

function requireOrigin(origin: string): void {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin && !/[*]|^null$/.test(origin)
  if (!isOrigin) throw new Error(`cors.origins lists "${origin}", which is no origin such as https://console.example`)
}
