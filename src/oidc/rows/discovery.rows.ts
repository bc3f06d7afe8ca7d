import type { OAuthErrorCode } from '../../domain/oidc/oauth-error.ts'
import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import { userInfo } from '../../engine/oidc/user-info.ts'
import { bearerTokens } from '../pipeline/bearer-tokens.ts'
import { json } from './operations/answers.ts'
import { openIdOperation } from './operations/row.ts'

/** A question for user info without a good access token. */
export class UserInfoRefused extends Error {
  readonly code: OAuthErrorCode
  readonly description: string

  constructor(code: OAuthErrorCode, description: string) {
    super(description)
    this.code = code
    this.description = description
  }
}

/** Who holds an access token (OpenID Connect Core section 5.3). */
export function userInfoOperations(provider: OpenIdProvider) {
  return (['GET /userinfo', 'POST /userinfo'] as const).map((route) =>
    openIdOperation(
      provider,
      {
        route,
        summary: 'Tells who holds an access token',
        access: 'public',
        credentials: ['token'],
        headers: ['authorization'],
        form: true,
        produces: 'application/json',
      },
      async ({ headers }) => {
        const [token] = bearerTokens(headers)
        if (!token) throw new UserInfoRefused('invalid_request', 'access token missing')
        const info = await userInfo(provider.context, provider.bearerSessions, token)
        if (info === undefined) throw new UserInfoRefused('access_denied', 'access token invalid')
        return json(info)
      },
    ),
  )
}
