import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import { type SignerAnswer, SignerLoginRefused } from '../../engine/oidc/signers/signer-logins.ts'
import type { Answer } from '../operations/answer.ts'
import { browserCookie, browserSecret } from './browser-cookie.ts'
import { found } from './operations/answers.ts'
import { openIdOperation } from './operations/row.ts'
import { refusedSignerPage, stepPage } from './pages/login-pages.ts'

const SHAPE = { access: 'public', headers: ['cookie'], form: true } as const

/** Logins of people at external JWT signers, which the login page offers: there, and back with a code. */
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

/** The login page's address names the auth request, which is nobody's business there. */
const UNTOLD = { 'referrer-policy': 'no-referrer' } as const

/** Where a signer sends people back to: one address for each, so that no other one can answer in its place. */
function redirectUri(issuer: string, signerId: string): string {
  return `${issuer}/login/signer/${encodeURIComponent(signerId)}`
}
