/**
 * Signs JSON Web Tokens with the controller's TLS server key, which devices and routers verify them with. The header
 * carries `kid`, the SHA-1 fingerprint of the server certificate.
 */
export interface Tokens {
  sign(claims: TokenClaims): Promise<string>
  /** The claims of a token that was signed here and is good at `now` (ms); `undefined` for any other text. */
  verify(token: string, now: number): Promise<TokenClaims | undefined>
  /** The public half of the key that signs, as a JSON Web Key with the certificate in `x5c`. */
  publicKey(): Promise<PublicJwk>
  /** Signs the UTF-8 text of a nonce; the signature is base64, the algorithm named as in tokens. */
  signNonce(nonce: string): Promise<{ readonly algorithm: string; readonly signature: string }>
}

/** Claims as they stand in the token; `exp` and `iat` in seconds since the Unix epoch. */
export type TokenClaims = Readonly<Record<string, unknown>>

export interface PublicJwk {
  readonly kid: string
  readonly [member: string]: unknown
}
