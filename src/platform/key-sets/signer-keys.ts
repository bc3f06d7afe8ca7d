import type { CryptoKey, JWK } from 'jose'
import { fromBase64 } from '../../base/bytes.ts'
import { BoundedMap } from '../../base/collections.ts'
import { HOUR_MS } from '../../base/time.ts'
import type { KeySets, TokenSigner } from '../../ports/credentials.ts'
import { loadJose } from '../jose-library.ts'
import { loadLibrary } from '../x509/asn1-structures.ts'
import { readCertificates } from '../x509/certificate.ts'
import { writePem } from '../x509/pem.ts'
import { type KeySet, readKeySet } from './http-key-sets.ts'

/** The key of a token is unusable: it is missing, of another kind, too weak or expired. */
export class UnfitKey extends Error {}

/** A public key for one algorithm, and the end of its validity, in epoch ms. */
export interface VerificationKey {
  readonly key: CryptoKey
  readonly notAfter: number
}

export interface VerificationKeyOptions {
  /** Accepts keys of a key set without `kty` that only their certificate describes. */
  readonly allowsUntypedKeys: boolean
}

const LEAST_RSA_EXPONENT = 65_537n

/**
 * The key of the only certificate of a PEM text, valid until the certificate expires. Throws for a malformed certificate, and for a key
 * that is too weak or does not fit the algorithm.
 */
async function certificateKey(pem: string, alg: string): Promise<VerificationKey> {
  const { importX509 } = await loadJose()
  const [{ notAfter }] = readCertificates(await loadLibrary(), pem)
  return { key: strong(await importX509(pem, alg)), notAfter }
}

/** The key of a member of a key set. Only its public parts are read. Throws as above. */
async function jwkKey(jwk: JWK, alg: string, options: VerificationKeyOptions): Promise<VerificationKey> {
  const { importJWK } = await loadJose()
  const kty = alg.startsWith('ES') ? 'EC' : 'RSA'
  const [certificate] = jwk.x5c ?? []
  const isTyped = jwk.kty === kty || (jwk.kty === undefined && certificate !== undefined && options.allowsUntypedKeys)
  if (!isTyped || (jwk.alg !== undefined && jwk.alg !== alg)) throw new UnfitKey('key is of another kind')
  if (certificate !== undefined && jwk.n === undefined && jwk.x === undefined) {
    return certificateKey(writePem('CERTIFICATE', fromBase64(certificate)), alg)
  }
  const { n = '', e = '', crv = '', x = '', y = '' } = jwk
  const key = await importJWK(kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }, alg)
  if (key instanceof Uint8Array) throw new UnfitKey('key is not a public key')
  return { key: strong(key), notAfter: Infinity }
}

/** Checks the exponent of an RSA key. The library checks its length with every signature, but not the exponent. */
function strong(key: CryptoKey): CryptoKey {
  const exponent: unknown = Reflect.get(key.algorithm, 'publicExponent')
  if (!(exponent instanceof Uint8Array)) return key
  const value = exponent.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
  if (value < LEAST_RSA_EXPONENT || value % 2n === 0n) throw new UnfitKey('RSA exponent is too weak')
  return key
}

/** The part of a token's header that names its signing key. */
export interface KeyHeader {
  readonly kid: string
  readonly alg: string
}

/** The keys of a signer for one token. */
export interface KeysForToken {
  /** The key that the token names, at `now` (epoch ms). Throws without a fitting key. */
  find(header: KeyHeader): Promise<CryptoKey>
  /** Fetches the keys again after a key did not fit: a signer may replace a key and keep its id. True if the keys have changed. */
  renew(): Promise<boolean>
}

/** Pinned certificates that are kept parsed. */
const MAX_CERTIFICATES = 500

/** Finds the keys of token signers: the key of a pinned certificate, or the keys of a key set. */
export function createSignerKeys(keySets: KeySets, options: VerificationKeyOptions) {
  const sets = createKnownKeySets(keySets)
  const certificates = new BoundedMap<string, { readonly pem: string }>(MAX_CERTIFICATES)
  const imported = new WeakMap<object, Map<string, Promise<VerificationKey>>>()

  /** Imports the key of `holder` once per algorithm: an import takes as long as checking a signature. */
  const importOnce = (holder: object, alg: string, importIt: () => Promise<VerificationKey>) => {
    const keys = imported.get(holder) ?? new Map<string, Promise<VerificationKey>>()
    imported.set(holder, keys)
    const key = keys.get(alg) ?? importIt()
    keys.set(alg, key)
    return key
  }

  const certificateOf = (pem: string): { readonly pem: string } => {
    const certificate = certificates.get(pem) ?? { pem }
    certificates.set(pem, certificate)
    return certificate
  }

  return ({ id, certPem, jwksEndpoint, kid: pinned }: TokenSigner, now: number): KeysForToken => {
    const endpoint = jwksEndpoint === null ? undefined : { id, url: jwksEndpoint }
    let used: KeySet | undefined

    const find = async ({ kid, alg }: KeyHeader): Promise<VerificationKey> => {
      if (certPem !== null) {
        if (kid !== pinned) throw new UnfitKey('token names another key')
        return importOnce(certificateOf(certPem), alg, () => certificateKey(certPem, alg))
      }
      used = endpoint && (await sets.keysOf(endpoint, kid, now))
      const jwk = used?.get(kid)
      if (jwk === undefined) throw new UnfitKey('no such key')
      return importOnce(jwk, alg, () => jwkKey(jwk, alg, options))
    }

    return {
      find: async (header) => {
        const { key, notAfter } = await find(header)
        if (notAfter < now) throw new UnfitKey('certificate of the key has expired')
        return key
      },
      renew: async () => {
        const before = used
        if (endpoint === undefined || before === undefined) return false
        return (await sets.keysAfter(before, endpoint, now)) !== before
      },
    }
  }
}

/** Milliseconds after which a key set is fetched again. */
const FRESH_MS = 300_000
/** Milliseconds for which its keys are used while fetching fails. */
const MAX_AGE_MS = HOUR_MS
/** Milliseconds between two fetches for tokens whose key is missing or does not fit. */
const MISS_INTERVAL_MS = 1_000
/** Milliseconds between two fetches of an old set after a failure: its tokens wait for each attempt. */
const RETRY_INTERVAL_MS = 30_000
/** Key sets that are kept, each of 256 KiB at most. */
const MAX_SETS = 200

const NO_KEYS: KeySet = new Map()

interface Known {
  readonly keys: KeySet
  /** The instants of the last successful fetch and of the last attempt, in epoch ms. */
  readonly fetchedAt: number
  readonly triedAt: number
}

/** The recently fetched key sets of signers. */
interface KnownKeySets {
  /** The keys at an endpoint at `now` (epoch ms), fetched again if they are old or `kid` is missing. */
  keysOf(signer: Endpoint, kid: string, now: number): Promise<KeySet>
  /** The same after `used` did not fit a token: fetched again unless they have changed already. */
  keysAfter(used: KeySet, signer: Endpoint, now: number): Promise<KeySet>
}

/** The signer of the keys, and their URL; a signer with a new URL loses its former keys. */
interface Endpoint {
  readonly id: string
  readonly url: string
}

/**
 * Keeps key sets. A set is fetched again after five minutes, and sooner for a token whose key is missing or does not fit, at most once a
 * second. A withdrawn key therefore stays valid for five minutes, or for an hour while fetching fails.
 */
function createKnownKeySets(keySets: KeySets): KnownKeySets {
  const known = new BoundedMap<string, Known>(MAX_SETS)
  const pending = new Map<string, Promise<Known>>()

  const fetchSet = async (name: string, url: string, now: number): Promise<Known> => {
    const fetched = await keySets
      .fetch(url)
      .then((text): Known => ({ keys: readKeySet(text), fetchedAt: now, triedAt: now }))
      .catch((): Known => ({ ...(known.get(name) ?? { keys: NO_KEYS, fetchedAt: now }), triedAt: now }))
    known.set(name, fetched)
    return fetched
  }

  const fetchOnce = (name: string, url: string, now: number): Promise<Known> => {
    const fetching = pending.get(name) ?? fetchSet(name, url, now).finally(() => pending.delete(name))
    pending.set(name, fetching)
    return fetching
  }

  return {
    async keysOf({ id, url }, kid, now) {
      const name = nameOf({ id, url })
      const found = known.get(name)
      const isOld = found === undefined || !isWithin(FRESH_MS, found.fetchedAt, now)
      const interval = found?.keys.has(kid) ? RETRY_INTERVAL_MS : MISS_INTERVAL_MS
      const isWanted = isOld || !found.keys.has(kid)
      const mayFetch = found === undefined || !isWithin(interval, found.triedAt, now)
      const current = found === undefined || (isWanted && mayFetch) ? await fetchOnce(name, url, now) : found
      return isWithin(MAX_AGE_MS, current.fetchedAt, now) ? current.keys : NO_KEYS
    },
    async keysAfter(used, { id, url }, now) {
      const name = nameOf({ id, url })
      const found = known.get(name)
      const isTried = found !== undefined && isWithin(MISS_INTERVAL_MS, found.triedAt, now)
      if (found !== undefined && (found.keys !== used || isTried)) return found.keys
      return (await fetchOnce(name, url, now)).keys
    },
  }
}

function nameOf({ id, url }: Endpoint): string {
  return `${id} ${url}`
}

/**
 * Reports whether less than a span has passed since an instant. An instant in the future, after the clock was set back, counts as long ago.
 */
function isWithin(span: number, since: number, now: number): boolean {
  return since <= now && now - since < span
}
