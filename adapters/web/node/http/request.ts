import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { networkOf } from '../../../../src/base/addresses.ts'
import { checkOptions } from '../../../../src/base/arguments.ts'
import type { FairCapacity } from '../../../../src/concurrency/fair-capacity.ts'
import type { PlainRequest } from '../../../../src/index.ts'
import { DEFAULT_MAX_BODY_BYTES, declaredLength, readBody } from './body.ts'
import { bodyTooLarge, encodingNotSupported, methodNotSupported } from './early-response.ts'
import { withoutPrefix } from './mount-prefix.ts'

/** How a Node request becomes a web `Request`. */
export interface ToRequestOptions {
  /** The largest body accepted, in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number
}

/** The gates and limits that all requests share. */
export interface Shares {
  /** The memory, in bytes, of bodies that are still arriving. */
  readonly arriving: FairCapacity
  /** The address that the request counts for. */
  readonly remoteAddress: string | undefined
}

/** A request whose body has been read. */
export interface ReadRequest extends Omit<PlainRequest, 'readBody'> {
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readBody(): Uint8Array | undefined
}

/**
 * The web `Request` of a Node request: its method, absolute URL, every header as sent (duplicates joined as the web
 * platform does) and its whole body. A body that a framework has parsed into `incoming.body` is serialized again.
 * A body of GET or HEAD is counted and dropped, because a web `Request` cannot hold it.
 *
 * @example
 * const response = await controller.fetch(await toRequest(incoming), connectionInfo(incoming))
 * @throws RequestRefused for a body over the limit (413), a compressed body (415), or the method TRACE (405).
 * @throws RequestAborted when the client leaves before the end of the body.
 */
export async function toRequest(incoming: IncomingMessage, options: ToRequestOptions = {}): Promise<Request> {
  checkOptions('toRequest', options, { maxBodyBytes: 'number' })
  return webRequest(await readRequest(incoming, options))
}

/** The web form of a request. */
export function webRequest({ url, method, headers, body }: ReadRequest): Request {
  return new Request(url, { method, headers, body: body ?? null })
}

/** The same in plain values, of a request whose memory is counted. */
export async function readRequest(
  incoming: IncomingMessage,
  options: ToRequestOptions,
  shares?: Shares,
): Promise<ReadRequest> {
  const method = incoming.method ?? 'GET'
  if (method === 'TRACE' || method === 'CONNECT') throw methodNotSupported(method)
  refuseCompressedBody(incoming)

  const maxBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES
  const headers = headersOf(incoming.rawHeaders)
  const wasParsed = isBodyConsumed(incoming)
  const counted = { network: networkOf(shares?.remoteAddress ?? ''), ...(shares && { arriving: shares.arriving }) }
  const content = wasParsed ? serializeParsedBody(incoming) : await readBody(incoming, { maxBytes, ...counted })
  if (content !== undefined && content.length > maxBytes) throw bodyTooLarge()
  if (wasParsed) describeSerializedBody(headers, content)

  const body = method === 'GET' || method === 'HEAD' ? undefined : content
  return { method, url: requestUrl(incoming), headers, body, readBody: () => body }
}

function refuseCompressedBody(incoming: IncomingMessage): void {
  const encoding = incoming.headers['content-encoding']?.trim() ?? ''
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') throw encodingNotSupported(encoding)
}

/** Every header of the list that Node keeps as alternating names and values. */
function headersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  }
  return headers
}

/** The length of a body may change when it is serialized again. */
function describeSerializedBody(headers: Headers, body: Uint8Array | undefined): void {
  headers.delete('transfer-encoding')
  headers.set('content-length', String(body?.length ?? 0))
}

const HOST_PATTERN = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const ABSOLUTE_TARGET = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/**
 * The absolute URL that a request asks for. The authority is the Host header when that is a plain host and port, else `localhost`; the path
 * is the client's (`originalUrl`), without the prefix below which the controller is mounted (`baseUrl`) unless that is a path of its own. A
 * target such as `//other.example/` stays a path: it never names another host.
 */
function requestUrl(incoming: IncomingMessage): string {
  const scheme = incoming.socket instanceof TLSSocket ? 'https' : 'http'
  return `${scheme}://${authority(incoming.headers.host, scheme)}${pathOf(targetOf(incoming))}`
}

function authority(host: string | undefined, scheme: string): string {
  const isPlain = host !== undefined && HOST_PATTERN.test(host) && URL.canParse(`${scheme}://${host}/`)
  return isPlain ? host : 'localhost'
}

function targetOf(incoming: IncomingMessage): string {
  if (!('originalUrl' in incoming) || typeof incoming.originalUrl !== 'string') return incoming.url ?? '/'
  const prefix = 'baseUrl' in incoming ? String(incoming.baseUrl) : ''
  return withoutPrefix(incoming.originalUrl.replace(ABSOLUTE_TARGET, ''), prefix)
}

function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE_TARGET, '')
  return path.startsWith('/') ? path : `/${path}`
}

/**
 * The bytes of a body that a framework has already read and parsed into `incoming.body` (Express after
 * `express.json()`, `express.urlencoded()`, `express.text()` or `express.raw()`), or `undefined` when it was empty.
 * @throws Error when another reader consumed the body and left no parsed value.
 */
function serializeParsedBody(incoming: IncomingMessage): Uint8Array<ArrayBuffer> | undefined {
  const declaresBody = declaredLength(incoming) > 0 || incoming.headers['transfer-encoding'] !== undefined
  if (!declaresBody) return undefined
  const body = 'body' in incoming ? incoming.body : undefined
  if (body === undefined) {
    throw new Error('The request body was read before portcullis could, and no parsed `body` was left on the request')
  }
  if (body instanceof Uint8Array) return new Uint8Array(body)
  return new TextEncoder().encode(textOf(body, incoming.headers['content-type'] ?? ''))
}

/** Whether a framework has started reading the stream, so that only its parsed body is left. */
function isBodyConsumed(incoming: IncomingMessage): boolean {
  return incoming.readableDidRead
}

function textOf(body: unknown, contentType: string): string {
  if (typeof body === 'string') return body
  const isForm = contentType.trim().toLowerCase().startsWith('application/x-www-form-urlencoded')
  return isForm && typeof body === 'object' && body !== null ? formText(body) : JSON.stringify(body)
}

function formText(fields: object): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) form.append(name, String(each))
  }
  return form.toString()
}
