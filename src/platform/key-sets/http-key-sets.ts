import type { JWK } from 'jose'
import type { KeySets, TokenEndpoints } from '../../ports/credentials.ts'
import { guardedText } from '../outgoing/guarded-http.ts'

export interface HttpKeySetsOptions {
  /** Allows addresses of private networks and of this machine. Default: false. */
  readonly allowInternal?: boolean
}

/** Key sets over HTTP, from addresses that may be fetched from. */
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
    fetch: (url) => guardedText(url, { allowInternal }),
  }
}

/** Nobody may be sent there, as with deployed controllers: links and their groups, metadata of clouds, no address at all. */
const NEVER = /^(169\.254\.|224\.0\.0\.|0\.0\.0\.0$)|^(::$|fe[89ab]|ff02:|fd00:ec2::254$)/i

/** A first judgement without the network modules; the connection judges again. */
function mayBeLiteral(literal: string, allowInternal: boolean): boolean {
  if (NEVER.test(asVersion4(literal))) return false
  return (
    allowInternal ||
    !/^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|22[4-9]|2[3-5]\d)\.|^(::|f[cdef]|64:ff9b:|2002:)/i.test(
      literal,
    )
  )
}

/** An IPv4 address inside of an IPv6 one is judged as what it is. */
function asVersion4(literal: string): string {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(literal) ?? []
  if (high === undefined || low === undefined) return literal
  return [high, low].flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255]).join('.')
}

/** Token endpoints over HTTP, as guarded as key sets are. */
export function createHttpTokenEndpoints(allowInternal: boolean): TokenEndpoints {
  return {
    post: (url, form) => guardedText(url, { allowInternal, form: new URLSearchParams(form).toString() }),
  }
}

/** Keys by their id. */
export type KeySet = ReadonlyMap<string, JWK>

/** The keys of a JSON Web Key Set that are for signatures and have an id. Throws for what is no key set. */
export function readKeySet(text: string): KeySet {
  const set: unknown = JSON.parse(text)
  const keys: unknown = typeof set === 'object' && set !== null ? Reflect.get(set, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('not a key set')
  return new Map(keys.filter(isSignatureKey).map((key) => [key.kid, key]))
}

/** A key that is for something else, such as encryption, is as good as absent: another one may have its id. */
function isSignatureKey(key: unknown): key is JWK & { readonly kid: string } {
  if (typeof key !== 'object' || key === null || typeof Reflect.get(key, 'kid') !== 'string') return false
  const use: unknown = Reflect.get(key, 'use')
  const operations: unknown = Reflect.get(key, 'key_ops')
  return (
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))
  )
}
