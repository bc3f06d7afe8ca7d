/** One-way fingerprints of high-entropy secrets: what the store keeps instead of a session token. */
export interface Digest {
  /** Lower-case hexadecimal SHA-256 of the UTF-8 text. */
  sha256(text: string): string
}

/** A signer of tokens, and its keys: those of one certificate, or of a key set that is fetched. */
export interface TokenSigner {
  readonly id: string
  readonly issuer: string
  readonly audience: string
  readonly kid: string | null
  readonly certPem: string | null
  readonly jwksEndpoint: string | null
}

export type TokenVerdict =
  | { readonly outcome: 'valid'; readonly claims: Claims }
  | { readonly outcome: 'expired' | 'invalid' }

/** Judges JSON Web Tokens that others signed. The keys of a token are the signer's, whatever its header says. */
export interface ExternalTokens {
  /** Reads the issuer that a token names, unverified; `undefined` for a text that is no token. */
  issuerOf(token: string): string | undefined
  /**
   * Verifies signature (RS256 to RS512, ES256 to ES512, by the key's own kind), issuer, audience and the times of a token
   * at `now` (epoch ms), without leeway. A token without `kid` or `exp` is invalid, and one whose key is for something else
   * than signatures, is RSA with an exponent below 65537, or stands in a certificate that has expired at `now`;
   * likewise one whose claims hold text that no storage can keep.
   *
   * Never rejects: a key set that was never fetched makes its tokens invalid. A set is fetched again after five minutes, and
   * for a token whose key is missing or does not fit, once in a second at most however many tokens there are. While it
   * cannot be fetched, the keys of the last time are good for an hour.
   */
  verify(token: string, signer: TokenSigner, now: number): Promise<TokenVerdict>
}

/** How a key signs, by the names of JSON Web Algorithms: it follows from the key of the certificate. */
export type SignatureAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256' | 'EdDSA'

/**
 * Signs with a private key that nobody can read, such as one in a hardware module or a key management service. It is
 * asked once for each certificate and token, never while a record is being written, and once at the start, to prove that
 * the key belongs to its certificate.
 */
export interface KeySigner {
  /**
   * Signs `data`, which is not hashed yet. An ECDSA signature may be DER, as key management services answer, or `r` and
   * `s` side by side, as hardware modules do.
   */
  sign(data: Uint8Array, algorithm: SignatureAlgorithm): Promise<Uint8Array>
}

/** Turns passwords into verifiers. Implementations cap how many hashes run at once, so that logins cannot starve the host. */
export interface PasswordHasher {
  /** Answers a PHC string (`$argon2id$…`) that carries its own salt and parameters. Throws on the empty password. */
  hash(password: string): Promise<string>
  /**
   * Reports whether `password` belongs to `verifier`. Without a verifier it spends the same time as with one and
   * answers `false`, so that a caller cannot tell an unknown user from a wrong password.
   */
  verify(password: string, verifier: string | undefined): Promise<boolean>
  /** Reports whether `verifier` was made in another way than {@link hash} makes them now, so that it is to be replaced. */
  needsRehash(verifier: string): boolean
}

/** Draws text as a QR code. */
export interface QrCode {
  /** PNG of 256 by 256 pixels, error correction level M. */
  png(text: string): Promise<Uint8Array>
}

/** Keeps secrets unreadable at rest, where they must be shown again and cannot be hashed. */
export interface Sealer {
  /** Encrypts text for one purpose; the same text is sealed differently every time. */
  seal(text: string, purpose: string): Promise<string>
  /** Decrypts what was sealed for the same purpose. Throws when it was not, or by another key. */
  open(sealed: string, purpose: string): Promise<string>
}

/**
 * Signs JSON Web Tokens with the controller's TLS server key, which devices and routers verify them with. The header
 * carries `kid`, the SHA-1 fingerprint of the server certificate.
 */
export interface Tokens {
  /** How tokens are signed now, by the names of JSON Web Algorithms. */
  readonly algorithm: string
  sign(claims: TokenClaims): Promise<string>
  /** The claims of a token that was signed here and is good at `now` (ms); `undefined` for any other text. */
  verify(token: string, now: number): Promise<TokenClaims | undefined>
  /**
   * Judges a token at `now` (ms) by the keys that sign here, signed here before, or were {@link recognise}d. The key says
   * which algorithm is right, whatever the token says.
   */
  judge(token: string, now: number): Promise<TokenJudgement>
  /** Takes tokens that the key of a certificate (PEM) signed for tokens of ours: a former one, or another process's. */
  recognise(certPem: string): Promise<void>
  /** The public half of the key that signs, as a JSON Web Key with the certificate in `x5c`. */
  publicKey(): Promise<PublicJwk>
  /** The public halves of every key whose tokens are good, without certificates; the one that signs comes first. */
  publicKeys(): Promise<readonly PublicJwk[]>
  /** Signs the UTF-8 text of a nonce; the signature is base64, the algorithm named as in tokens. */
  signNonce(nonce: string): Promise<{ readonly algorithm: string; readonly signature: string }>
}

/** Claims of a token whose signature was verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Claims as they stand in the token; `exp` and `iat` in seconds since the Unix epoch. */
export type TokenClaims = Readonly<Record<string, unknown>>

/** The judgement of a token: good, good but too old, by a key that nobody knows here, or anything else. */
export type TokenJudgement =
  | { readonly outcome: 'valid' | 'expired'; readonly claims: TokenClaims }
  | { readonly outcome: 'unknown-key'; readonly kid: string }
  | { readonly outcome: 'invalid' }

export interface PublicJwk {
  readonly kid: string
  readonly [member: string]: unknown
}

/** Time-based one-time passwords as authenticator apps compute them: HMAC-SHA1, six digits, steps of 30 seconds. */
export interface Totp {
  /** A fresh secret, base32. */
  newSecret(): Promise<string>
  /**
   * The time step that a code belongs to, among the one at `now` (epoch ms) and two before and after it; `undefined` for a
   * code that fits none of them. Each step is to be accepted once.
   */
  stepOf(secret: string, code: string, now: number): Promise<number | undefined>
  /** The `otpauth:` URL from which an authenticator app takes the secret. */
  provisioningUrl(secret: string, issuer: string, account: string): Promise<string>
}

/** Fetches the key sets of token signers. */
export interface KeySets {
  /** Why a URL may not be fetched, by what it says alone; `undefined` when it may. */
  refusal(url: string): string | undefined
  /**
   * The JSON text at a URL. Rejects after five seconds, above 256 KiB, on an answer other than 200, and when the URL or a
   * redirect leads to an address that is not allowed.
   */
  fetch(url: string): Promise<string>
}

/** Sends what a login at an external OpenID provider brought to where it becomes tokens. */
export interface TokenEndpoints {
  /**
   * Posts a form and answers the JSON text of the answer. Rejects after five seconds, above 256 KiB, on an answer other
   * than 200, a redirect included, and for an address that is not allowed.
   */
  post(url: string, form: Readonly<Record<string, string>>): Promise<string>
}
