import { withParameters } from '../../domain/oidc/redirect-uri.ts'
import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import { isRedirectUri } from '../../engine/oidc/requests/redirect-uris.ts'
import type { OperationShape } from '../operations/operation.ts'
import { found, text } from './operations/answers.ts'
import { openIdOperation } from './operations/row.ts'

const INTERACTION = 'Unfortunately, the user may be not logged in and/or additional interaction is required.'

const SHAPE = {
  summary: 'Sends a completed login back to its client with a code',
  access: 'public',
  credentials: ['none'],
  form: true,
} as const satisfies Omit<OperationShape, 'route'>

/** Where a login ends (RFC 6749 section 4.1.2): with a code for the client, or with what is still missing. */
export function callbackOperations(provider: OpenIdProvider) {
  return (['GET /authorize/callback', 'POST /authorize/callback'] as const).map((route) =>
    openIdOperation(provider, { route, ...SHAPE }, async ({ form }) => {
      const id = form.get('id')
      if (!id) return text('auth request callback is missing id', { status: 400 })
      const login = await provider.codes.finish(id)
      if (login === undefined) return text('request not found', { status: 400 })
      const { redirectUri, state } = login.request
      // An administrator may have taken it off the list meanwhile.
      if (!(await isRedirectUri(provider.context, redirectUri))) {
        return text('the redirect URI is not allowed any more', { status: 400 })
      }
      if (login.code !== undefined) return found(withParameters(redirectUri, { code: login.code, state }))
      const error = { error: 'interaction_required', error_description: INTERACTION, state }
      return found(withParameters(redirectUri, error))
    }),
  )
}
