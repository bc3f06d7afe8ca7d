import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Digest } from '../ports/digest.ts'

/** Digests computed on the spot: WebCrypto's go through a thread, which costs a request more than all its other work. */
export const nobleDigest: Digest = {
  sha256: (text) => bytesToHex(sha256(utf8ToBytes(text))),
}
