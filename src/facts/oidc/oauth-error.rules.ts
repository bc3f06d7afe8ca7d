/** Error codes of OAuth 2.0 and OpenID Connect that the provider answers. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'access_denied'
  | 'login_required'
  | 'temporarily_unavailable'

/** A request to the provider that cannot be fulfilled, in the words of OAuth 2.0. No description holds a secret. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode
  readonly description: string | undefined

  constructor(code: OAuthErrorCode, description?: string) {
    super(description ?? code)
    this.name = 'OAuthError'
    this.code = code
    this.description = description
  }
}

/** The error of a missing or invalid parameter. */
export function invalidRequest(description: string): OAuthError {
  return new OAuthError('invalid_request', description)
}

/** The error of an invalid code, token or verifier. */
export function invalidGrant(description: string): OAuthError {
  return new OAuthError('invalid_grant', description)
}
