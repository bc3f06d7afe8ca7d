import type { webcrypto } from 'node:crypto'
import type { KeySigner } from '../../../ports/credentials/key-signer.ts'

/** A private key that cannot be read: a WebCrypto key, which may be non-extractable, or a signer elsewhere. */
export type HeldKey = webcrypto.CryptoKey | KeySigner
