import type { Sealer } from '../ports/credentials.ts'
import { createKey } from './x509/authority-certificates.ts'
import type { HeldKey } from './x509/signing-key.ts'

/** For what a private key of the network signs. */
type KeyPurpose = 'root' | 'signing' | 'server'

/**
 * Makes the private keys of authorities and servers when they change, and finds them again. The controller keeps `reference`
 * in its storage, where every process over it reads it: a key management service gives the name of the key.
 */
export interface KeyStore {
  /** Makes a key; `publicKey` is its SubjectPublicKeyInfo, DER. Rejects where no key can be kept. */
  create(
    purpose: KeyPurpose,
    algorithm: 'ES256' | 'RS256',
  ): Promise<{ readonly reference: string; readonly publicKey: Uint8Array }>
  /** The key of a reference: PKCS#8 as PEM text, or one that signs. Rejects where it is not there. */
  open(reference: string): Promise<string | HeldKey>
}

/** For what private keys are sealed. */
const PURPOSE = 'network-key'

/** Keeps private keys in the storage, sealed: P-256, or RSA of 2048 bits. */
export function sealedKeyStore(sealer: Sealer): KeyStore {
  return {
    create: async (_purpose, algorithm) => {
      const { pem, publicKey } = await createKey(algorithm)
      return { reference: await sealer.seal(pem, PURPOSE), publicKey }
    },
    open: (reference) => sealer.open(reference, PURPOSE),
  }
}
