/**
 * Signs and verifies the JSON Web Tokens that devices and routers verify with the controller's TLS server key. The header carries
 * `kid`, the SHA-1 fingerprint of the server certificate.
 */
export interface Tokens {
  sign(claims: TokenClaims): Promise<string>
  /** The claims of a token that was signed here and is good at `now` (ms); `undefined` for any other text. */
  verify(token: string, now: number): Promise<TokenClaims | undefined>
}

/** Claims as they stand in the token; `exp` and `iat` in seconds since the Unix epoch. */
export type TokenClaims = Readonly<Record<string, unknown>>
