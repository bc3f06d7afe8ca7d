import { withParameters } from '../../facts/oidc/auth-request.rules.ts'
import type { Answer, OperationShape } from '../../http/operations/operation.ts'
import { isRedirectUri } from '../../oidc/auth-requests.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import { type SignerAnswer, SignerLoginRefused } from '../../oidc/signer-logins.ts'
import { browserCookie, browserSecret } from './authorize.rows.ts'
import { refusedSignerPage, stepPage } from './login-pages.rows.ts'
import { found, openIdOperation, text } from './openid-row.rows.ts'

const SHAPE = { access: 'public', headers: ['cookie'], form: true } as const

/** Logins of people at external JWT signers, which the login page offers: the way to the signer, and back with a code. */
export function signerLoginOperations(provider: OpenIdProvider) {
  return [
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /login/signer', summary: 'Sends a browser to log in at an external JWT signer' },
      async ({ form, headers, issuer }): Promise<Answer> => {
        const [id = '', signerId = ''] = [form.get('authRequestID'), form.get('signer')]
        const secret = browserSecret(headers) ?? provider.context.random.uuid()
        try {
          const url = await provider.signerLogins.begin(id, signerId, secret, redirectUri(issuer, signerId))
          const answer = found(url)
          return { ...answer, headers: { ...answer.headers, ...browserCookie(secret), ...UNTOLD } }
        } catch (error) {
          return refusedSignerPage(provider, id, error)
        }
      },
    ),
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /login/signer/{id}', summary: 'Takes what a browser brings back from a signer' },
      async ({ form, headers, issuer, params, call }): Promise<Answer> => {
        const answer: SignerAnswer = {
          state: form.get('state') ?? '',
          code: form.get('code') || undefined,
          issuer: form.get('iss'),
          browser: browserSecret(headers) ?? '',
          redirectUri: redirectUri(issuer, params.id ?? ''),
        }
        try {
          const { request, missing } = await provider.signerLogins.finish(call, params.id ?? '', answer)
          return await stepPage(provider, issuer, request.id, missing)
        } catch (error) {
          const known = error instanceof SignerLoginRefused ? error.requestId : answer.state.split('.')[0]
          return refusedSignerPage(provider, known ?? '', error)
        }
      },
    ),
  ]
}

/** The address of the login page names the auth request, which the signer does not need. */
const UNTOLD = { 'referrer-policy': 'no-referrer' } as const

/** The address that a signer sends browsers back to: one for each signer, so that no other signer can answer in its place. */
function redirectUri(issuer: string, signerId: string): string {
  return `${issuer}/login/signer/${encodeURIComponent(signerId)}`
}

const INTERACTION = 'Unfortunately, the user may be not logged in and/or additional interaction is required.'

const CALLBACK_SHAPE = {
  summary: 'Sends a completed login back to its client with a code',
  access: 'public',
  credentials: ['none'],
  form: true,
} as const satisfies Omit<OperationShape, 'route'>

/** The end of a login (RFC 6749 section 4.1.2): a code for the client, or the factors that are still missing. */
export function callbackOperations(provider: OpenIdProvider) {
  return (['GET /authorize/callback', 'POST /authorize/callback'] as const).map((route) =>
    openIdOperation(provider, { route, ...CALLBACK_SHAPE }, async ({ form }) => {
      const id = form.get('id')
      if (!id) return text('auth request callback is missing id', { status: 400 })
      const login = await provider.codes.finish(id)
      if (login === undefined) return text('request not found', { status: 400 })
      const { redirectUri, state } = login.request
      // An administrator may have removed it from the list meanwhile.
      if (!(await isRedirectUri(provider.context, redirectUri))) {
        return text('the redirect URI is not allowed any more', { status: 400 })
      }
      if (login.code !== undefined) return found(withParameters(redirectUri, { code: login.code, state }))
      const error = { error: 'interaction_required', error_description: INTERACTION, state }
      return found(withParameters(redirectUri, error))
    }),
  )
}
