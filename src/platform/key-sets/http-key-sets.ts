import type { LookupFunction } from 'node:net'
import type { KeySets } from '../../ports/key-sets.ts'

export interface HttpKeySetsOptions {
  /** Allows addresses of private networks and of this machine. Default: false. */
  readonly allowInternal?: boolean
}

const TIMEOUT_MS = 5_000
const MAX_BYTES = 256 * 1024
const MAX_REDIRECTS = 5

/**
 * Key sets over HTTP. Every address is judged after its name was resolved, by the connection that uses it, so that a name
 * which changes its address in between gains nothing.
 */
export function createHttpKeySets({ allowInternal = false }: HttpKeySetsOptions = {}): KeySets {
  return {
    refusal: (text) => {
      if (!URL.canParse(text)) return 'is not a URL'
      const url = new URL(text)
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an http or https URL'
      if (url.username !== '' || url.password !== '') return 'holds credentials'
      if (!allowInternal && /^(localhost|.*\.localhost)\.?$/.test(url.hostname)) return 'names this machine'
      const literal = url.hostname.replace(/^\[|\]$/g, '')
      const isAddress = /^[\d.]+$/.test(literal) || literal.includes(':')
      return isAddress && !mayBeLiteral(literal, allowInternal) ? 'names an address that is not allowed' : undefined
    },
    fetch: (url) => get(url, { allowInternal, redirects: 0, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  }
}

interface Request {
  readonly allowInternal: boolean
  readonly redirects: number
  readonly signal: AbortSignal
}

async function get(text: string, request: Request): Promise<string> {
  const { isAllowedAddress } = await import('./guarded-address.ts')
  const url = new URL(text)
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  const { isIP } = await import('node:net')
  if (isIP(literal) !== 0 && !isAllowedAddress(literal, request.allowInternal))
    throw new Error('address is not allowed')
  const { request: send } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const { once } = (await import('node:events')).default
  const outgoing = send(url, {
    signal: request.signal,
    agent: false,
    headers: { accept: 'application/json' },
    lookup: guardedLookup(await import('node:dns'), (address) => isAllowedAddress(address, request.allowInternal)),
  })
  outgoing.end()
  const [answer]: import('node:http').IncomingMessage[] = await once(outgoing, 'response', { signal: request.signal })
  if (answer === undefined) throw new Error('no answer')
  outgoing.on('error', () => undefined)
  const { statusCode = 0, headers } = answer
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
    answer.destroy()
    if (request.redirects === MAX_REDIRECTS) throw new Error('redirected too often')
    const next = new URL(headers.location, url)
    if (!/^https?:$/.test(next.protocol)) throw new Error('redirected to another protocol')
    return get(next.href, { ...request, redirects: request.redirects + 1 })
  }
  if (statusCode !== 200) {
    answer.destroy()
    throw new Error(`answered ${statusCode}`)
  }
  return readCapped(answer)
}

async function readCapped(answer: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) {
      answer.destroy()
      throw new Error('key set is larger than 256 KiB')
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

/** A first judgement without the network modules; the connection judges again. */
function mayBeLiteral(literal: string, allowInternal: boolean): boolean {
  return (
    allowInternal ||
    !/^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|22[4-9]|2[3-5]\d)\.|^(::|f[cdef]|64:ff9b:|2002:)/i.test(
      literal,
    )
  )
}
