import type { Sealer } from '../ports/credentials.ts'
import { createKey } from './x509/authority-certificates.ts'
import type { HeldKey } from './x509/signing-key.ts'

/** The purpose of a private key of the network. */
type KeyPurpose = 'root' | 'signing' | 'server'

/**
 * Makes the private keys of new authorities and server certificates, and finds them again. The controller stores `reference` for every
 * process over its storage; a key management service answers the name of the key.
 */
export interface KeyStore {
  /** Makes a key; `publicKey` is its SubjectPublicKeyInfo, DER. Rejects when no key can be kept. */
  create(
    purpose: KeyPurpose,
    algorithm: 'ES256' | 'RS256',
  ): Promise<{ readonly reference: string; readonly publicKey: Uint8Array }>
  /** The key of a reference: PKCS#8 as PEM text, or a held key. Rejects for an unknown reference. */
  open(reference: string): Promise<string | HeldKey>
}

/** The purpose under which private keys are sealed. */
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
