import type { CryptoKey, JWK } from 'jose'
import type { TokenSigner } from '../../ports/external-tokens.ts'
import type { KeySets } from '../../ports/key-sets.ts'

const fetchIntervalMs = 5_000

interface Known {
  readonly endpoint: string
  readonly keys: ReadonlyMap<string, JWK>
  readonly fetchedAt: number
}

/** The keys of token signers, by the key id that a token names. Key sets are remembered and fetched for unknown ids. */
export const createSignerKeys = (keySets: KeySets) => {
  const known = new Map<string, Known>()
  const pending = new Map<string, Promise<Known>>()
  const certificates = new Map<string, { readonly pem: string }>()
  const imported = new WeakMap<object, Map<string, Promise<CryptoKey>>>()

  /** Imports the key that `holder` stands for once per algorithm: it takes as long as checking a signature. */
  const importOnce = (holder: object, alg: string, importIt: () => Promise<CryptoKey>): Promise<CryptoKey> => {
    const keys = imported.get(holder) ?? new Map<string, Promise<CryptoKey>>()
    imported.set(holder, keys)
    const key = keys.get(alg) ?? importIt()
    keys.set(alg, key)
    return key
  }

  const certificateOf = (signerId: string, pem: string): { readonly pem: string } => {
    const before = certificates.get(signerId)
    const certificate = before?.pem === pem ? before : { pem }
    certificates.set(signerId, certificate)
    return certificate
  }

  const fetchKeys = async ({ id }: TokenSigner, endpoint: string, now: number): Promise<Known> => {
    const before = known.get(id)
    const keys = await keySets
      .fetch(endpoint)
      .then(readKeySet)
      .catch(() => (before?.endpoint === endpoint ? before.keys : new Map<string, JWK>()))
    const fetched = { endpoint, keys, fetchedAt: now }
    known.set(id, fetched)
    return fetched
  }

  const keySetKey = async (
    signer: TokenSigner,
    endpoint: string,
    kid: string,
    now: number,
  ): Promise<JWK | undefined> => {
    const found = known.get(signer.id)
    const isCurrent = found?.endpoint === endpoint
    const key = isCurrent ? found.keys.get(kid) : undefined
    if (key !== undefined || (isCurrent && now - found.fetchedAt < fetchIntervalMs)) return key
    const flight = `${signer.id} ${endpoint}`
    const fetching = pending.get(flight) ?? fetchKeys(signer, endpoint, now).finally(() => pending.delete(flight))
    pending.set(flight, fetching)
    return (await fetching).keys.get(kid)
  }

  /** The public key of a signer for an algorithm. Throws when there is none of that id and kind. */
  return async (signer: TokenSigner, kid: string, alg: string, now: number): Promise<CryptoKey> => {
    const { importX509 } = await import('jose')
    if (signer.certPem !== null) {
      if (kid !== signer.kid) throw new Error('token names another key')
      const { certPem } = signer
      return importOnce(certificateOf(signer.id, certPem), alg, () => importX509(certPem, alg))
    }
    const key = signer.jwksEndpoint === null ? undefined : await keySetKey(signer, signer.jwksEndpoint, kid, now)
    if (key === undefined) throw new Error('no such key')
    return importOnce(key, alg, () => importKey(key, alg))
  }
}

const importKey = async (key: JWK, alg: string): Promise<CryptoKey> => {
  const { importJWK, importX509 } = await import('jose')
  const kty = alg.startsWith('ES') ? 'EC' : 'RSA'
  if (key.kty !== kty || (key.alg !== undefined && key.alg !== alg)) throw new Error('key is of another kind')
  const [certificate] = key.x5c ?? []
  if (certificate !== undefined && key.n === undefined && key.x === undefined) {
    return importX509(`-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`, alg)
  }
  const { n, e, crv, x, y } = key
  // Only the public parts, whatever else a key set holds.
  const imported = await importJWK(
    kty === 'RSA' ? { kty, n: n ?? '', e: e ?? '' } : { kty, crv: crv ?? '', x: x ?? '', y: y ?? '' },
    alg,
  )
  if (imported instanceof Uint8Array) throw new Error('key is not a public key')
  return imported
}

const readKeySet = (text: string): ReadonlyMap<string, JWK> => {
  const set: unknown = JSON.parse(text)
  const keys: unknown = typeof set === 'object' && set !== null ? Reflect.get(set, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('not a key set')
  return new Map(keys.filter(isKey).map((key) => [key.kid, key]))
}

const isKey = (key: unknown): key is JWK & { readonly kid: string } =>
  typeof key === 'object' && key !== null && typeof Reflect.get(key, 'kid') === 'string'
