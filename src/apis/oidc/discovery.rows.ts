import { publishedKeys } from '../../credentials/signing-keys.ts'
import { discoveryDocument } from '../../facts/oidc/discovery.rules.ts'
import type { OAuthErrorCode } from '../../facts/oidc/oauth-error.rules.ts'
import { bearerTokens } from '../../http/pipeline/authorize.ts'
import { type OpenIdProvider, userInfo } from '../../oidc/openid-provider.ts'
import { json, openIdOperation, text } from './openid-row.rows.ts'

const SHAPE = { access: 'public', form: true } as const

/** Operations by which clients and operators learn of the provider. */
export function discoveryOperations(provider: OpenIdProvider) {
  const { tokens } = provider.context
  return [
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /.well-known/openid-configuration', summary: 'Describes the OpenID provider' },
      async ({ issuer }) => json(discoveryDocument(issuer, tokens.algorithm)),
    ),
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /keys', summary: 'Lists the keys that sign tokens, also those of earlier ones' },
      async () => json({ keys: await publishedKeys(provider.context) }),
    ),
    openIdOperation(provider, { ...SHAPE, route: 'GET /healthz', summary: 'Tells that the provider is there' }, ok),
    openIdOperation(provider, { ...SHAPE, route: 'GET /ready', summary: 'Tells that the provider answers' }, ok),
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /logged-out', summary: 'Where a logout leads that names no other place' },
      async () => text('signed out successfully'),
    ),
  ]
}

async function ok() {
  return json({ status: 'ok' })
}

/** A question for user info without a valid access token. */
export class UserInfoRefused extends Error {
  readonly code: OAuthErrorCode
  readonly description: string

  constructor(code: OAuthErrorCode, description: string) {
    super(description)
    this.code = code
    this.description = description
  }
}

/** The claims of the identity that holds an access token (OpenID Connect Core section 5.3). */
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
