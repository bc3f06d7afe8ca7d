import { TOKEN_EXCHANGE } from '../../domain/oidc/discovery.ts'
import { invalidRequest, OAuthError } from '../../domain/oidc/oauth-error.ts'
import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import type { TokenResponse } from '../../engine/oidc/tokens/token-response.ts'
import type { OperationShape } from '../operations/operation.ts'
import { requireClientId } from './client-identification.ts'
import { json } from './operations/answers.ts'
import { type OpenIdInput, openIdOperation } from './operations/row.ts'

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
