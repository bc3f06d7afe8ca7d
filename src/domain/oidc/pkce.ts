import { invalidRequest } from './oauth-error.ts'

/** SHA-256 as base64url without padding. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** Refuses a login without proof key (RFC 7636), or with one of another method than S256. Error: `invalid_request`. */
export function requireChallenge(challenge: string | undefined, method: string | undefined): string {
  if (!challenge) throw invalidRequest('code_challenge missing: the proof key S256 is demanded')
  if (method !== 'S256') throw invalidRequest('code_challenge_method must be S256')
  if (!CHALLENGE.test(challenge)) throw invalidRequest('code_challenge is no SHA-256 in base64url')
  return challenge
}

/** Reports whether the SHA-256 of a verifier, lower-case hexadecimal, is what the challenge announced. */
export function isVerified(challenge: string, verifierSha256: string): boolean {
  return challengeOf(verifierSha256) === challenge
}

/** The challenge that announces a verifier, by its SHA-256 in hexadecimal. */
export function challengeOf(verifierSha256: string): string {
  return base64UrlOfHex(verifierSha256)
}

/** Base64url without padding of bytes in hexadecimal. */
function base64UrlOfHex(hex: string): string {
  const binary = (hex.match(/../g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The left half of a SHA-256 in hexadecimal, as `at_hash` and `c_hash` hold it. */
export function leftHalf(sha256: string): string {
  return base64UrlOfHex(sha256.slice(0, sha256.length / 2))
}
