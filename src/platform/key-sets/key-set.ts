import type { JWK } from 'jose'

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
