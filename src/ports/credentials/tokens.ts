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

/** Claims as they stand in the token; `exp` and `iat` in seconds since the Unix epoch. */
export type TokenClaims = Readonly<Record<string, unknown>>

/** What is true of a token: good, good but too old, by a key that nobody knows here, or anything else. */
export type TokenJudgement =
  | { readonly outcome: 'valid' | 'expired'; readonly claims: TokenClaims }
  | { readonly outcome: 'unknown-key'; readonly kid: string }
  | { readonly outcome: 'invalid' }

export interface PublicJwk {
  readonly kid: string
  readonly [member: string]: unknown
}
