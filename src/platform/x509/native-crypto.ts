import type { KeyObject } from 'node:crypto'

/** A signature scheme; `hash` has its WebCrypto name. */
type Scheme = KeyAlgorithm & { readonly hash: string }

/** A public key of `node:crypto`. */
export type NativeKey = KeyObject

/**
 * Synchronous signatures and digests by the runtime's `node:crypto`. WebCrypto hands each to a thread, which costs more than a P-256
 * signature itself. Slower kinds of keys are left out, because they would block the event loop.
 */
export interface NativeCrypto {
  sha1(octets: Uint8Array): Uint8Array
  /** A public key from its SubjectPublicKeyInfo; undefined for slow kinds. Throws for a point that is not on its curve. */
  publicKey(algorithm: KeyAlgorithm, der: Uint8Array): NativeKey | undefined
  /** Reports whether a signature, in the form of certificates, is valid. */
  verifies(key: NativeKey, scheme: Scheme, data: Uint8Array, signature: Uint8Array): boolean
  /** Signs with a PKCS#8 key, in the form of WebCrypto; undefined for slow kinds. */
  signer(pkcs8: Uint8Array, scheme: Scheme): ((data: Uint8Array) => Uint8Array<ArrayBuffer>) | undefined
}

let found: Promise<NativeCrypto | undefined> | undefined

/** Undefined when the runtime's `node:crypto` is missing or incomplete. */
export function findNativeCrypto(): Promise<NativeCrypto | undefined> {
  found ??= tryNativeCrypto()
  return found
}

async function tryNativeCrypto(): Promise<NativeCrypto | undefined> {
  const native = await import('node:crypto').catch(() => undefined)
  if (native?.createPublicKey === undefined || native.verify === undefined || native.sign === undefined)
    return undefined
  const candidate = nativeCrypto(native)
  return (await isWhole(native, candidate)) ? candidate : undefined
}

/** Reports whether a signature can be made and verified: other runtimes than Node have these functions, but refuse some arguments. */
async function isWhole(native: typeof import('node:crypto'), candidate: NativeCrypto): Promise<boolean> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
  try {
    const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const data = new Uint8Array(candidate.sha1(new Uint8Array(1)))
    const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey))
    const signature = candidate.signer(pkcs8, algorithm)?.(data)
    const key = candidate.publicKey(algorithm, new Uint8Array(await crypto.subtle.exportKey('spki', pair.publicKey)))
    if (signature === undefined || key === undefined) return false
    // Signing has the form of WebCrypto, verifying that of certificates.
    const secret = native.createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
    const ofCertificates = native.sign('sha256', data, secret)
    return (
      (await crypto.subtle.verify(algorithm, pair.publicKey, signature, data)) &&
      candidate.verifies(key, algorithm, data, ofCertificates)
    )
  } catch {
    return false
  }
}

function nativeCrypto(native: typeof import('node:crypto')): NativeCrypto {
  const { createHash, createPrivateKey, createPublicKey, sign, verify } = native
  return {
    sha1: (octets) => createHash('sha1').update(octets).digest(),
    publicKey: (algorithm, der) =>
      isQuick(algorithm) ? createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' }) : undefined,
    verifies: (key, scheme, data, signature) => verify(hashOf(scheme), data, key, signature),
    signer(pkcs8, scheme) {
      if (!isQuick(scheme)) return undefined
      const key = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
      return (data) => new Uint8Array(sign(hashOf(scheme), data, { key, dsaEncoding: 'ieee-p1363' }))
    },
  }
}

/** Reports whether a signature takes less than a tenth of a millisecond. */
function isQuick(algorithm: KeyAlgorithm): boolean {
  return algorithm.name === 'Ed25519' || (algorithm.name === 'ECDSA' && algorithm.namedCurve === 'P-256')
}

/** The hash by its OpenSSL name; null for Ed25519, which has its own. */
function hashOf({ name, hash }: Scheme): string | null {
  // Some runtimes do not know the names of WebCrypto, such as SHA-256.
  return name === 'Ed25519' ? null : hash.toLowerCase().replace('-', '')
}

/** Kinds of keys that the network accepts, by the parameters that WebCrypto imports them with. */
export type KeyAlgorithm =
  | { readonly name: 'ECDSA'; readonly namedCurve: 'P-256' | 'P-384' | 'P-521' }
  | { readonly name: 'RSASSA-PKCS1-v1_5' }
  | { readonly name: 'Ed25519' }
