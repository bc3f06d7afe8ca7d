/** One-way fingerprints of high-entropy secrets, which the store keeps instead of session tokens. */
export interface Digest {
  /** Lower-case hexadecimal SHA-256 of the UTF-8 text. */
  sha256(text: string): string
}

/** A signer of tokens, and its keys: the key of a certificate, or a fetched key set. */
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

/** Judges JSON Web Tokens of external signers. The keys of a token are the signer's, whatever its header says. */
export interface ExternalTokens {
  /** Reads the unverified issuer of a token; `undefined` for invalid text. */
  issuerOf(token: string): string | undefined
  /**
   * Verifies signature (RS256 to RS512, ES256 to ES512, by the key's own kind), issuer, audience and the times of a token at `now` (epoch
   * ms), without leeway. A token without `kid` or `exp` is invalid. So is a token whose key is not for signatures, is RSA with an exponent
   * below 65537, or stands in a certificate that has expired at `now`. So is a token whose claims hold text that no storage can keep.
   *
   * Never rejects: a key set that was never fetched makes its tokens invalid. A set is fetched again after five minutes. A token whose key
   * is missing or does not fit causes a fetch too, at most once a second for any number of tokens. When a fetch fails, the last keys stay
   * valid for an hour.
   */
  verify(token: string, signer: TokenSigner, now: number): Promise<TokenVerdict>
}

/** The algorithm of a key, by its JSON Web Algorithms name. It follows from the key of the certificate. */
export type SignatureAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256' | 'EdDSA'

/**
 * Signs with an unreadable private key, such as a key in a hardware module or a key management service. It is called once for each
 * certificate and token, never during a write to the store, and once at the start to prove that the key belongs to its certificate.
 */
export interface KeySigner {
  /**
   * Signs `data`, which is not hashed yet. An ECDSA signature may be DER, as key management services answer, or `r` and `s` concatenated,
   * as hardware modules answer.
   */
  sign(data: Uint8Array, algorithm: SignatureAlgorithm): Promise<Uint8Array>
}

/** Turns passwords into verifiers. Implementations limit the number of concurrent hashes, so that logins cannot starve the host. */
export interface PasswordHasher {
  /** Answers a PHC string (`$argon2id$…`) that carries its own salt and parameters. Throws on the empty password. */
  hash(password: string): Promise<string>
  /**
   * Reports whether `password` belongs to `verifier`. Without a verifier it spends the same time as with one and
   * answers `false`, so that a caller cannot tell an unknown user from a wrong password. `by` is the network of the caller, where it is
   * known: a flood of passwords from one network should not delay those from others.
   */
  verify(password: string, verifier: string | undefined, by?: string): Promise<boolean>
  /** Reports whether `verifier` differs in its parameters from those of {@link hash} now, and must be replaced. */
  needsRehash(verifier: string): boolean
}

/** Draws text as a QR code. */
export interface QrCode {
  /** PNG of 256 by 256 pixels, error correction level M. */
  png(text: string): Promise<Uint8Array>
}

/** A secret was sealed by another key, or for another purpose: by a process with another `secretsKey`, say. */
export class SealedOtherwise extends Error {
  constructor(options?: ErrorOptions) {
    super('a stored secret was sealed by another secretsKey', options)
    this.name = 'SealedOtherwise'
  }
}

/** Encrypts secrets at rest that must be shown again and therefore cannot be hashed. */
export interface Sealer {
  /** Encrypts text for one purpose. Each call gives a different result. */
  seal(text: string, purpose: string): Promise<string>
  /** Decrypts text that was sealed for the same purpose. Rejects with {@link SealedOtherwise} for another purpose or another key. */
  open(sealed: string, purpose: string): Promise<string>
}

/**
 * Signs JSON Web Tokens with the controller's TLS server key, which devices and routers verify them with. The header
 * carries `kid`, the SHA-1 fingerprint of the server certificate.
 */
export interface Tokens {
  /** The current signature algorithm, by its JSON Web Algorithms name. */
  readonly algorithm: string
  sign(claims: TokenClaims): Promise<string>
  /** The claims of a token of this network that is valid at `now` (ms); `undefined` for any other text. */
  verify(token: string, now: number): Promise<TokenClaims | undefined>
  /**
   * Judges a token at `now` (ms) by the current key, former keys, and keys that were {@link recognise}d. The key determines the algorithm,
   * whatever the token says.
   */
  judge(token: string, now: number): Promise<TokenJudgement>
  /** Accepts tokens that the key of a certificate (PEM) signed: a former certificate, or that of another process. */
  recognise(certPem: string): Promise<void>
  /** The public half of the signing key, as a JSON Web Key with the certificate in `x5c`. */
  publicKey(): Promise<PublicJwk>
  /** The public halves of all keys whose tokens are valid, without certificates. The signing key comes first. */
  publicKeys(): Promise<readonly PublicJwk[]>
  /** Signs the UTF-8 text of a nonce. The signature is base64, the algorithm has its name in tokens. */
  signNonce(nonce: string): Promise<{ readonly algorithm: string; readonly signature: string }>
}

/** Claims of a token whose signature was verified. */
export type Claims = Readonly<Record<string, unknown>>

/** Claims as they stand in the token; `exp` and `iat` in seconds since the Unix epoch. */
export type TokenClaims = Readonly<Record<string, unknown>>

/** The judgement of a token: valid, valid but expired, signed by an unknown key, or invalid. */
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
   * The time step of a code, from two steps before `now` (epoch ms) to two after; `undefined` for any other code. Accept each step once.
   */
  stepOf(secret: string, code: string, now: number): Promise<number | undefined>
  /** The `otpauth:` URL from which an authenticator app reads the secret. */
  provisioningUrl(secret: string, issuer: string, account: string): Promise<string>
}

/** Fetches the key sets of token signers. */
export interface KeySets {
  /** The reason against fetching a URL, by its text alone; `undefined` for an acceptable URL. */
  refusal(url: string): string | undefined
  /**
   * The JSON text at a URL. Rejects after five seconds, above 256 KiB, for an answer other than 200, and when the URL or a redirect leads
   * to a forbidden address.
   */
  fetch(url: string): Promise<string>
}

/** Exchanges the result of a login at an external OpenID provider for tokens. */
export interface TokenEndpoints {
  /**
   * Posts a form and answers the JSON text of the answer. Rejects after five seconds, above 256 KiB, for an answer other than 200
   * (including a redirect), and for a forbidden address.
   */
  post(url: string, form: Readonly<Record<string, string>>): Promise<string>
}
