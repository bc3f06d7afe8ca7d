import type { CryptoKey } from 'jose'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { TokenSigner } from '../../ports/credentials/external-tokens.ts'
import type { KeySets } from '../../ports/key-sets.ts'
import type { KeySet } from './key-set.ts'
import { createKnownKeySets } from './known-key-sets.ts'
import {
  certificateKey,
  jwkKey,
  UnfitKey,
  type VerificationKey,
  type VerificationKeyOptions,
} from './verification-key.ts'

/** What a token says of the key that it was signed with. */
export interface KeyHeader {
  readonly kid: string
  readonly alg: string
}

/** The keys of a signer for one token. */
export interface KeysForToken {
  /** The key that the token names, at `now` (epoch ms). Throws when there is none that fits. */
  find(header: KeyHeader): Promise<CryptoKey>
  /** Looks for other keys after that one did not fit: a signer may replace a key and keep its id. Whether there are others. */
  renew(): Promise<boolean>
}

/** Pinned certificates that are read once. */
const MAX_CERTIFICATES = 500

/** Finds the keys of token signers: that of a pinned certificate, or those of a key set. */
export function createSignerKeys(keySets: KeySets, options: VerificationKeyOptions) {
  const sets = createKnownKeySets(keySets)
  const certificates = new BoundedMap<string, { readonly pem: string }>(MAX_CERTIFICATES)
  const imported = new WeakMap<object, Map<string, Promise<VerificationKey>>>()

  /** Imports the key that `holder` stands for once per algorithm: it takes as long as checking a signature. */
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
