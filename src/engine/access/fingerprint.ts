import type { Digest } from '../../ports/credentials/digest.ts'

/** Hexadecimal digits of a fingerprint: 128 bits. */
const LENGTH = 32

const KNOWN = new WeakMap<object, string>()

/**
 * Equal for objects with equal JSON text and, for all practical purposes, for no others. It is computed once for each
 * object, so the object must not change: a part of a stored record, or something that was made of one.
 */
export function fingerprint(digest: Digest, value: object): string {
  const found = KNOWN.get(value)
  if (found !== undefined) return found
  const made = digest.sha256(JSON.stringify(value)).slice(0, LENGTH)
  KNOWN.set(value, made)
  return made
}
