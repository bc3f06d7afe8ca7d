/** The parts that a request may have, whatever its operation is. */
export interface AnyRequest {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: object | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** What is sent to call an operation below `base`. Throws `TypeError` when a path parameter is missing. */
export function requestFor(
  base: string,
  route: string,
  request: AnyRequest = {},
  token: string | undefined = undefined,
): Request {
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

/** Access tokens of OpenID Connect are JWTs, whose three parts are told by their dots; tokens of other API sessions have none. */
function setToken(headers: Headers, token: string): void {
  if (token.split('.').length === 3) headers.set('authorization', `Bearer ${token}`)
  else headers.set('zt-session', token)
}

/** Without the check the call would reach another operation: that of the list, or of the path above. */
function pathPart(route: string, name: string, value: string | undefined): string {
  if (!value || value === '.' || value === '..') throw new TypeError(`${route} needs params.${name}`)
  return encodeURIComponent(value)
}
