import { CLIENT_IDS } from '../../facts/oidc/auth-request.rules.ts'
import { TOKEN_EXCHANGE } from '../../facts/oidc/discovery.rules.ts'
import { invalidRequest, OAuthError } from '../../facts/oidc/oauth-error.rules.ts'
import type { OperationShape } from '../../http/operations/operation.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import type { TokenResponse } from '../../oidc/token-issue.ts'
import { json, type OpenIdInput, openIdOperation } from './openid-row.rows.ts'

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

const SHAPE = {
  route: 'POST /oauth/token',
  summary: 'Issues tokens for a code, a refresh token or another token',
  access: 'public',
  credentials: ['none', 'certificate'],
  headers: ['authorization'],
  form: true,
} as const satisfies OperationShape

/** The token endpoint (RFC 6749 section 3.2), for public clients. */
export function tokenOperation(provider: OpenIdProvider) {
  return openIdOperation(provider, SHAPE, async (input) => json(await tokensFor(input)))
}

function tokensFor({ provider, issuer, call, form, headers }: OpenIdInput<typeof SHAPE>): Promise<TokenResponse> {
  const grantType = form.get('grant_type')
  if (!grantType) throw invalidRequest('grant_type missing')
  const caller = { issuer, clientId: requireClientId(headers, form) }
  switch (grantType) {
    case 'authorization_code':
      return provider.codeGrant.exchange(call, {
        ...caller,
        code: form.get('code'),
        codeVerifier: form.get('code_verifier'),
        redirectUri: form.get('redirect_uri'),
      })
    case 'refresh_token':
      return provider.refreshGrant.refresh(call, {
        ...caller,
        refreshToken: form.get('refresh_token'),
        scope: form.get('scope'),
        csrPem: form.get('csr_pem'),
      })
    case TOKEN_EXCHANGE:
      return provider.exchangeGrant.exchange(call, {
        ...caller,
        subjectToken: form.get('subject_token'),
        subjectTokenType: form.get('subject_token_type'),
        requestedTokenType: form.get('requested_token_type'),
        audience: form.get('audience'),
        scope: form.get('scope'),
        csrPem: form.get('csr_pem'),
      })
    case DEVICE_CODE:
      throw new OAuthError('unauthorized_client', `grant_type "${DEVICE_CODE}" not allowed`)
    default:
      throw new OAuthError('unsupported_grant_type', `${grantType.slice(0, 100)} not supported`)
  }
}

/**
 * The client of a request: by HTTP Basic, which comes first, or by `client_id`. The clients are public: they have no
 * secret, and a secret that they send is ignored. Errors: `invalid_request`, `invalid_client`.
 */
export function requireClientId(headers: Headers, form: ReadonlyMap<string, string>): string {
  const clientId = basicName(headers.get('authorization')) ?? form.get('client_id')
  if (!clientId) throw invalidRequest('client_id or client_assertion must be provided')
  if (!CLIENT_IDS.includes(clientId)) throw new OAuthError('invalid_client', 'client not found')
  return clientId
}

function basicName(authorization: string | null): string | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(authorization?.trim() ?? '') ?? []
  if (encoded === undefined) return undefined
  try {
    const [name = ''] = atob(encoded.replaceAll('-', '+').replaceAll('_', '/')).split(':')
    return decodeURIComponent(name) || undefined
  } catch {
    return undefined
  }
}
