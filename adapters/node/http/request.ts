import type { IncomingMessage } from 'node:http'
import type { FairCapacity } from '../../../src/concurrency/fair-capacity.ts'
import { checkOptions } from '../../../src/domain/arguments/check-options.ts'
import { networkOf, type PlainRequest } from '../../../src/index.ts'
import { DEFAULT_MAX_BODY_BYTES, readBody } from './body.ts'
import { isBodyConsumed, serializeParsedBody } from './parsed-body.ts'
import { bodyTooLarge, encodingNotSupported, methodNotSupported } from './refusal.ts'
import { requestUrl } from './request-url.ts'

/** How a Node request becomes a web `Request`. */
export interface ToRequestOptions {
  /** The largest body accepted, in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number
}

/** What a request shares with those of others. */
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
 * A body of GET or HEAD is counted and dropped, for a web `Request` has no place for it.
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
