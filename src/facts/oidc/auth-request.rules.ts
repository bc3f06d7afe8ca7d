import type { LetIn, SignerProof } from '../credentials/login-basis.rules.ts'
import { invalidRequest } from './oauth-error.rules.ts'

/** The request with which a client sent its user to the login. */
export interface ClientRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | null
  readonly nonce: string | null
  readonly codeChallenge: string
  /** Config types by id or name, or `all`. */
  readonly configTypes: readonly string[]
  readonly remoteAddress: string
}

/** The identity that logged in, its proof, and its further factors. A login by another identity starts over. */
export interface RequestLogin extends LetIn {
  readonly identityId: string
  /** All methods by which the identity logged in on this request, including the last. */
  readonly methods: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** SHA-1 of the login's certificate. Tokens are bound to it. Null for other methods. */
  readonly fingerprint: string | null
  /** True when the auth policy accepts expired certificates. */
  readonly mayHaveExpired: boolean
  readonly isCertExtendable: boolean
  readonly isExtendRequested: boolean
  readonly isKeyRollRequested: boolean
  readonly improper: boolean
  readonly configTypes: readonly string[]
  readonly envInfo: object | null
  readonly sdkInfo: object | null
  /** A signing request for a certificate of the session. */
  readonly csrPem: string | null
  readonly hasPassedTotp: boolean
  /** The external signer whose token proved the second factor. */
  readonly provenSigner: SignerProof | null
}

/** A further login on the same request: proofs of one identity never count for another. */
export function nextLogin(before: RequestLogin | null, next: RequestLogin): RequestLogin {
  if (before === null || before.identityId !== next.identityId) return next
  return {
    ...next,
    methods: [...new Set([...before.methods, ...next.methods])],
    hasPassedTotp: before.hasPassedTotp || next.hasPassedTotp,
    provenSigner: next.provenSigner ?? before.provenSigner,
    csrPem: next.csrPem ?? before.csrPem,
  }
}

/** The methods of authentication, as named in tokens: `password`, `cert`, `ext-jwt`, `totp`, `ejs:` and a signer's id. */
export function methodsOf({ methods, hasPassedTotp, provenSigner }: RequestLogin): readonly string[] {
  return [
    ...methods,
    ...(hasPassedTotp ? ['totp'] : []),
    ...(provenSigner === null ? [] : [`ejs:${provenSigner.signerId}`]),
  ]
}

/** A user's login at an external provider, begun on the login page. */
export interface SignerLogin {
  readonly signerId: string
  /** SHA-256 of the state that the provider returns, and of the state that the browser keeps meanwhile: both must come back. */
  readonly stateDigest: string
  readonly browserDigest: string
  readonly nonce: string
  /** The proof key, sealed. */
  readonly sealedVerifier: string
}

/** SHA-256 as base64url without padding. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** Refuses a login without a proof key (RFC 7636), or with another method than S256. Error: `invalid_request`. */
export function requireChallenge(challenge: string | undefined, method: string | undefined): string {
  if (!challenge) throw invalidRequest('code_challenge missing: the proof key S256 is demanded')
  if (method !== 'S256') throw invalidRequest('code_challenge_method must be S256')
  if (!CHALLENGE.test(challenge)) throw invalidRequest('code_challenge is no SHA-256 in base64url')
  return challenge
}

/** Reports whether the SHA-256 of a verifier, lower-case hexadecimal, matches the challenge. */
export function isVerified(challenge: string, verifierSha256: string): boolean {
  return challengeOf(verifierSha256) === challenge
}

/** The challenge of a verifier, by its SHA-256 in hexadecimal. */
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

/** The client ids of deployed SDKs: both are public clients without a secret, and are treated alike. */
export const CLIENT_IDS: readonly string[] = ['openziti', 'native']

/** Known scopes; other scopes are dropped. */
const SCOPES: readonly string[] = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access']

/** The known scopes of a scope parameter, each once, in the requested order. */
export function scopesOf(scope: string): readonly string[] {
  const words = scope.split(' ').filter((word) => SCOPES.includes(word))
  return [...new Set(words)]
}

/** Every scope that a client may request. */
export function allScopes(): readonly string[] {
  return SCOPES
}

/** The default redirect URIs after a login. */
export const DEFAULT_REDIRECT_URIS: readonly string[] = [
  'openziti://auth/callback',
  'https://127.0.0.1:*/auth/callback',
  'http://127.0.0.1:*/auth/callback',
  'https://localhost:*/auth/callback',
  'http://localhost:*/auth/callback',
]

/** The default redirect URIs after a logout. */
export const DEFAULT_POST_LOGOUT_URIS: readonly string[] = [
  'openziti://auth/logout',
  'https://127.0.0.1:*/auth/logout',
  'http://127.0.0.1:*/auth/logout',
  'https://localhost:*/auth/logout',
  'http://localhost:*/auth/logout',
]

/** A loopback address whose port a client chooses when it starts: `*` stands for the port only. */
const LOOPBACK = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):)\*((?:\/[^?#*]*)?)$/
const PORT = /^[1-9][0-9]{0,4}$/
/** Schemes that a browser would run or show instead of leaving the page. */
const UNSAFE_SCHEMES = ['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'view-source:']

/** Reports whether a redirect URI is in the list: the same text or, for a loopback entry with `*` as port, the same text with any port. */
export function isListedUri(uri: string, list: readonly string[]): boolean {
  // An entry with an open port is not a usable address itself.
  return list.some((entry) => (LOOPBACK.test(entry) ? isSameButPort(uri, entry) : entry === uri))
}

/** The problem of an entry in a list of redirect URIs; `undefined` for a valid entry. */
export function redirectUriProblem(entry: string): string | undefined {
  if (entry.length > 2048) return 'must be at most 2048 chars long'
  if (LOOPBACK.test(entry)) return undefined
  if (entry.includes('*')) return 'may have * as the port of localhost, 127.0.0.1 or [::1] only'
  if (!URL.canParse(entry)) return 'must be an absolute URI'
  const { protocol, hash, username, password } = new URL(entry)
  if (UNSAFE_SCHEMES.includes(protocol)) return `must not have the scheme ${protocol}`
  if (hash !== '' || entry.includes('#')) return 'must not have a fragment'
  return username === '' && password === '' ? undefined : 'must not have credentials'
}

/** A redirect URI with parameters appended in form style, in their order; parameters without value are left out. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | null>>): string {
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => Boolean(entry[1]))
  if (sent.length === 0) return uri
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(sent)}`
}

function isSameButPort(uri: string, entry: string): boolean {
  const [, before, after] = LOOPBACK.exec(entry) ?? []
  if (before === undefined || after === undefined) return false
  if (!uri.startsWith(before) || !uri.endsWith(after)) return false
  const port = uri.slice(before.length, uri.length - after.length)
  return PORT.test(port) && Number(port) <= 65_535
}
