/** What the token endpoint answers, member by member in this order. Seconds are those left. */
export interface TokenResponse {
  readonly access_token: string
  readonly issued_token_type?: string
  readonly token_type: 'Bearer' | 'N_A'
  readonly refresh_token?: string
  readonly expires_in?: number
  readonly id_token?: string
  readonly scope?: string
  /** The certificate that was asked for and its intermediates, PEM. */
  readonly session_cert?: string
}
