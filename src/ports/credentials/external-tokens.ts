import type { Claims } from '../../domain/login/claims.ts'

/** Who signs tokens, and with which keys: those of one certificate, or of a key set that is fetched. */
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
  /** What a token says of its issuer, unverified; `undefined` for what is no token. */
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
