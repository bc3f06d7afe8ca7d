import type { LetIn, SignerProof } from '../credentials/login-basis.rules.ts'
import { invalidRequest } from './oauth-error.rules.ts'

/** The request with which a client sent somebody to log in. */
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

/** The identity that logged in, its proof, and its further factors. Another identity begins anew. */
export interface RequestLogin extends LetIn {
  readonly identityId: string
  /** Every method by which the identity logged in on this request, the last one included. */
  readonly methods: readonly string[]
  /** Epoch milliseconds. */
  readonly at: number
  /** SHA-1 of the certificate that logged in, to which the tokens are bound; null for other methods. */
  readonly fingerprint: string | null
  /** True when the auth policy takes certificates that have expired. */
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

/** A login after another one on the same request: what was proved for one identity never counts for another. */
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

/** How the identity authenticated, as tokens say it: `password`, `cert`, `ext-jwt`, `totp`, `ejs:` and a signer's id. */
export function methodsOf({ methods, hasPassedTotp, provenSigner }: RequestLogin): readonly string[] {
  return [
    ...methods,
    ...(hasPassedTotp ? ['totp'] : []),
    ...(provenSigner === null ? [] : [`ejs:${provenSigner.signerId}`]),
  ]
}

/** A login at an external provider that somebody was sent to from the login page. */
export interface SignerLogin {
  readonly signerId: string
  /** SHA-256 of what the provider gives back, and of what the browser keeps meanwhile: both have to come again. */
  readonly stateDigest: string
  readonly browserDigest: string
  readonly nonce: string
  /** The proof key, sealed. */
  readonly sealedVerifier: string
}

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

/** The clients that deployed SDKs call themselves: public, without secret, and both alike. */
export const CLIENT_IDS: readonly string[] = ['openziti', 'native']

/** Scopes that are kept; any other word is dropped. */
const SCOPES: readonly string[] = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access']

/** The known words of a scope parameter, each once, in the order in which they were asked for. */
export function scopesOf(scope: string): readonly string[] {
  const words = scope.split(' ').filter((word) => SCOPES.includes(word))
  return [...new Set(words)]
}

/** Every scope that a client may ask for. */
export function allScopes(): readonly string[] {
  return SCOPES
}

/** Where clients may be sent after a login, unless the configuration says otherwise. */
export const DEFAULT_REDIRECT_URIS: readonly string[] = [
  'openziti://auth/callback',
  'https://127.0.0.1:*/auth/callback',
  'http://127.0.0.1:*/auth/callback',
  'https://localhost:*/auth/callback',
  'http://localhost:*/auth/callback',
]

/** Where clients may be sent after a logout, unless the configuration says otherwise. */
export const DEFAULT_POST_LOGOUT_URIS: readonly string[] = [
  'openziti://auth/logout',
  'https://127.0.0.1:*/auth/logout',
  'http://127.0.0.1:*/auth/logout',
  'https://localhost:*/auth/logout',
  'http://localhost:*/auth/logout',
]

/** An address of the own machine whose port a client chooses when it starts: `*` stands for it, and for nothing else. */
const LOOPBACK = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):)\*((?:\/[^?#*]*)?)$/
const PORT = /^[1-9][0-9]{0,4}$/
/** Schemes that a browser would run or show instead of leaving the page. */
const UNSAFE_SCHEMES = ['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'view-source:']

/**
 * Reports whether a redirect URI is one of the list: the very same text or, for an entry with `*` as port of the own
 * machine, the same text with any port.
 */
export function isListedUri(uri: string, list: readonly string[]): boolean {
  // An entry with the port left open is no address itself.
  return list.some((entry) => (LOOPBACK.test(entry) ? isSameButPort(uri, entry) : entry === uri))
}

/** Why an entry cannot stand in a list of redirect URIs; `undefined` for one that can. */
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
