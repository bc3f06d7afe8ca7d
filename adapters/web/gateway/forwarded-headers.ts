import type { IncomingMessage } from 'node:http'
import { isOwnCookie } from './browser-login.ts'

/** The headers in which an app reads the caller. */
export interface CallerHeaders {
  /** The name of the identity. Characters other than printable ASCII, and `%`, are percent-encoded. */
  readonly name?: string
  /** The id of the identity. */
  readonly id?: string
}

/** Headers that belong to one connection (RFC 9110, 7.6.1), and `expect`, which this end has answered. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings', 'expect'],
])

/** Headers by which programs learn of the client of a proxy: only the gateway sets them. */
const OF_CLIENT =
  /^(?:forwarded|x-forwarded(?:-.*)?|(?:[a-z0-9]+-)*(?:client|connecting|real)-ip|x-original-.*|x-rewrite-url|via)$/

/** Headers of answers that would act beyond the host of the app. */
const BEYOND_HOST: ReadonlySet<string> = new Set(['alt-svc', 'clear-site-data'])

/** A request as it reached the gateway. */
export interface ForwardedRequest {
  readonly incoming: IncomingMessage
  /** The host of the app, as the browser names it. */
  readonly host: string
  readonly caller: { readonly id: string; readonly name: string }
  readonly callerHeaders: CallerHeaders
}

/** The headers of a request for the app, alternating names and values: those of the browser that are its own, and ours. */
export function requestHeaders(request: ForwardedRequest, upgrade?: 'websocket'): readonly string[] {
  const { incoming, host, caller, callerHeaders } = request
  const { rawHeaders, headers, socket, method = 'GET' } = incoming
  const ours = new Set([callerHeaders.name, callerHeaders.id].flatMap((name) => (name ? [plain(name)] : [])))
  const named = namedByConnection(headers.connection)
  // Without its length, the body would be further requests to the app.
  named.delete('content-length')
  const sent: string[] = ['host', host]
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const lower = name.toLowerCase()
    if (lower === 'host' || OF_CONNECTION.has(lower) || named.has(lower)) continue
    // Programs behind CGI read `x_caller` as `x-caller`, and some of them `x.caller` and `x~caller` too.
    if (OF_CLIENT.test(plain(name)) || ours.has(plain(name))) continue
    if (lower !== 'cookie') sent.push(name, value)
    else {
      const cookies = cookiesOfApp(value)
      if (cookies !== '') sent.push(name, cookies)
    }
  }
  const address = socket.remoteAddress ?? ''
  sent.push('x-forwarded-for', address, 'x-forwarded-host', host, 'x-forwarded-proto', 'https', 'via', '1.1 portcullis')
  if (callerHeaders.name) sent.push(callerHeaders.name, headerText(caller.name))
  if (callerHeaders.id) sent.push(callerHeaders.id, headerText(caller.id))
  if (upgrade !== undefined) return [...sent, 'connection', 'upgrade', 'upgrade', upgrade]
  if (headers['transfer-encoding'] !== undefined) sent.push('transfer-encoding', 'chunked')
  else if (headers['content-length'] === undefined && /^(?:POST|PUT|PATCH)$/.test(method))
    sent.push('content-length', '0')
  return sent
}

/** The headers of the answer of an app for the browser, alternating names and values. */
export function answerHeaders({ rawHeaders, headers }: IncomingMessage, host: string): string[] {
  const named = namedByConnection(headers.connection)
  const sent: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    const lower = name.toLowerCase()
    if (OF_CONNECTION.has(lower) || named.has(lower) || BEYOND_HOST.has(lower)) continue
    if (lower === 'set-cookie') sent.push(...(cookieOfHost(value, host) ?? []).flatMap((cookie) => [name, cookie]))
    // An app that knows nothing of TLS names itself without it.
    else if (lower === 'location')
      sent.push(name, value.startsWith(`http://${host}/`) ? `https${value.slice(4)}` : value)
    else sent.push(name, value)
  }
  return sent
}

/** The cookies of a request without those of the gateway, which prove a login. */
function cookiesOfApp(header: string): string {
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair !== '' && !isOwnCookie(pair)).join('; ')
}

/** A cookie of an app, for its own host alone; none for a cookie of the gateway, or of another host. */
function cookieOfHost(cookie: string, host: string): readonly string[] {
  const [pair = '', ...attributes] = cookie.split(';')
  if (isOwnCookie(pair)) return []
  const name = host.replace(/:\d+$/, '')
  const kept = attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))
  const domains = attributes.flatMap((attribute) => /^\s*domain\s*=\s*\.?(.*?)\s*$/i.exec(attribute)?.[1] ?? [])
  const isOwn = domains.every((domain) => domain === '' || `.${name}`.endsWith(`.${domain.toLowerCase()}`))
  return isOwn ? [[pair, ...kept].join(';')] : []
}

function namedByConnection(connection: string | undefined): Set<string> {
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-')
}

/** A text that a header can hold, and that reads back as the same text. */
function headerText(text: string): string {
  return text.replace(/[^\x21-\x24\x26-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()))
}
