import { CLIENT_IDS, withParameters } from '../../facts/oidc/auth-request.rules.ts'
import { invalidRequest, OAuthError } from '../../facts/oidc/oauth-error.rules.ts'
import type { Answer, OperationShape } from '../../http/operations/operation.ts'
import { isPostLogoutUri } from '../../oidc/auth-requests.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import { found, openIdOperation } from './openid-row.rows.ts'
import { requireClientId } from './token.rows.ts'

const SHAPE = { access: 'public', credentials: ['none'], form: true } as const satisfies Partial<OperationShape>

/** Revoking tokens (RFC 7009) and logging out (OpenID Connect RP-Initiated Logout 1.0), and the operations that are not offered. */
export function sessionEndOperations(provider: OpenIdProvider) {
  const endSession = (['GET /end_session', 'POST /end_session'] as const).map((route) =>
    openIdOperation(provider, { route, summary: 'Ends the session of an id token', ...SHAPE }, async ({ form }) => {
      return loggedOut(provider, form)
    }),
  )
  return [
    ...endSession,
    openIdOperation(
      provider,
      { route: 'POST /revoke', summary: 'Takes a token back; a refresh token with its session', ...SHAPE },
      async ({ form, headers }): Promise<Answer> => {
        const token = form.get('token')
        requireClientId(headers, form)
        if (!token) throw invalidRequest('token missing')
        await provider.sessionEnd.revoke(token)
        return { raw: '', headers: { 'content-type': 'application/json' } }
      },
    ),
    openIdOperation(
      provider,
      { route: 'POST /oauth/introspect', summary: 'Refuses introspection: clients here have no secret', ...SHAPE },
      async ({ form, headers }): Promise<Answer> => {
        requireClientId(headers, form)
        throw new OAuthError('invalid_client', 'client must be authenticated')
      },
    ),
    openIdOperation(
      provider,
      { route: 'POST /device_authorization', summary: 'Refuses logins by device code', ...SHAPE },
      async ({ form, headers }): Promise<Answer> => {
        requireClientId(headers, form)
        throw new OAuthError('unauthorized_client', 'the device flow is not allowed for this client')
      },
    ),
  ]
}

async function loggedOut(provider: OpenIdProvider, form: ReadonlyMap<string, string>): Promise<Answer> {
  const clientId = form.get('client_id')
  if (clientId && !CLIENT_IDS.includes(clientId)) throw new OAuthError('invalid_client', 'client not found')
  const hint = form.get('id_token_hint')
  if (hint && !(await provider.sessionEnd.isOurs(hint))) throw invalidRequest('id_token_hint invalid')
  const uri = clientId || hint ? form.get('post_logout_redirect_uri') : undefined
  if (uri && !(await isPostLogoutUri(provider.context, uri))) throw invalidRequest('post_logout_redirect_uri invalid')
  if (hint) await provider.sessionEnd.endByHint(hint)
  return found(withParameters(uri || '/oidc/logged-out', { state: form.get('state') ?? null }))
}
