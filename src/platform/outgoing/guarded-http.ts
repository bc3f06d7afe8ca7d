import type { LookupFunction } from 'node:net'
import { timeoutSignal } from '../../concurrency/process-runtime.ts'
import { isAllowedAddress } from './guarded-address.ts'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 256 * 1024
const MAX_REDIRECTS = 5

/** A request to a foreign server. */
export interface GuardedRequest {
  /** Allows addresses of private networks and of this machine. */
  readonly allowInternal: boolean
  /** The body of a POST, which follows no redirect; a GET without a body. */
  readonly form?: string
}

/** A request whose address the connection itself judges. */
interface GuardedSending {
  readonly isAllowed: (address: string) => boolean
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
  /** The body of a POST; a GET without a body. */
  readonly body?: string | undefined
}

/**
 * The text at an untrusted URL. Rejects after five seconds, above 256 KiB and for an answer other than 200. The connection judges the
 * address after its name was resolved, so that a changing DNS answer cannot bypass the check.
 */
export async function guardedText(url: string, { allowInternal, form }: GuardedRequest): Promise<string> {
  const request = {
    isAllowed: (address: string) => isAllowedAddress(address, allowInternal),
    signal: timeoutSignal(TIMEOUT_MS),
    headers: {
      accept: 'application/json',
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: form,
  }
  return textAt(new URL(url), request, 0)
}

async function textAt(url: URL, request: GuardedSending, redirects: number): Promise<string> {
  const answer = await guardedAnswer(url, request)
  const { statusCode = 0, headers } = answer
  const isRedirect = request.body === undefined && statusCode >= 300 && statusCode < 400
  if (isRedirect && headers.location !== undefined) {
    answer.destroy()
    if (redirects === MAX_REDIRECTS) throw new Error('redirected too often')
    return textAt(new URL(headers.location, url), request, redirects + 1)
  }
  if (statusCode !== 200) {
    answer.destroy()
    throw new Error(`answered ${statusCode}`)
  }
  return readCapped(answer)
}

/** The head of an answer: the caller must read its body or destroy it. Redirects are not followed. */
export async function guardedAnswer(url: URL, request: GuardedSending): Promise<import('node:http').IncomingMessage> {
  if (!/^https?:$/.test(url.protocol)) throw new Error('neither http nor https')
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  const { isIP } = await import('node:net')
  if (isIP(literal) !== 0 && !request.isAllowed(literal)) throw new Error('address is not allowed')
  const { request: send } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const { once } = (await import('node:events')).default
  const outgoing = send(url, {
    signal: request.signal,
    agent: false,
    method: request.body === undefined ? 'GET' : 'POST',
    headers: request.headers,
    lookup: guardedLookup(await import('node:dns'), request.isAllowed),
  })
  // A signal that was already aborted reports its error before `once` waits for it.
  outgoing.on('error', () => undefined)
  outgoing.end(request.body)
  const [answer]: import('node:http').IncomingMessage[] = await once(outgoing, 'response', { signal: request.signal })
  if (answer === undefined) throw new Error('no answer')
  return answer
}

async function readCapped(answer: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) {
      answer.destroy()
      throw new Error('answered more than 256 KiB')
    }
    chunks.push(chunk)
  }
  return new TextDecoder().decode(await new Blob(chunks.map((chunk) => new Uint8Array(chunk))).arrayBuffer())
}

function guardedLookup(dns: typeof import('node:dns'), isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
        return callback(new Error('name leads to an address that is not allowed'), [])
      }
      const [first] = addresses
      if (options.all || first === undefined) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
}
