import type { JWK } from 'jose'
import type { KeySets, TokenEndpoints } from '../../ports/credentials.ts'
import { isAllowedAddress } from '../outgoing/guarded-address.ts'
import { guardedText } from '../outgoing/guarded-http.ts'

export interface HttpKeySetsOptions {
  /** Allows addresses of private networks and of this machine. Default: false. */
  readonly allowInternal?: boolean
}

/** Key sets over HTTP, from permitted addresses. */
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
      return isAddress && !isAllowedAddress(literal, allowInternal) ? 'names an address that is not allowed' : undefined
    },
    fetch: (url) => guardedText(url, { allowInternal }),
  }
}

/** Token endpoints over HTTP, with the same guards as key sets. */
export function createHttpTokenEndpoints(allowInternal: boolean): TokenEndpoints {
  return {
    post: (url, form) => guardedText(url, { allowInternal, form: new URLSearchParams(form).toString() }),
  }
}

/** Keys by their id. */
export type KeySet = ReadonlyMap<string, JWK>

/** The signature keys with an id of a JSON Web Key Set. Throws for an invalid key set. */
export function readKeySet(text: string): KeySet {
  const set: unknown = JSON.parse(text)
  const keys: unknown = typeof set === 'object' && set !== null ? Reflect.get(set, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('not a key set')
  return new Map(keys.filter(isSignatureKey).map((key) => [key.kid, key]))
}

/**
 * Reports whether a key is for signatures and has an id. Keys for other uses, such as encryption, are ignored: another key may have the
 * same id.
 */
function isSignatureKey(key: unknown): key is JWK & { readonly kid: string } {
  if (typeof key !== 'object' || key === null || typeof Reflect.get(key, 'kid') !== 'string') return false
  const use: unknown = Reflect.get(key, 'use')
  const operations: unknown = Reflect.get(key, 'key_ops')
  return (
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))
  )
}
