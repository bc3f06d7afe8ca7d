import { ControllerError } from '../../base/errors.ts'
import type { OpenIdProvider } from '../../oidc/openid-provider.ts'
import { LOGIN_STEP, type LoginBody, loginBody, requestIdOf, requireLoginType } from './login.rows.ts'
import {
  authQueriesOf,
  completed,
  enrollmentPage,
  refusedCodePage,
  stepAnswer,
  stepPage,
  wantsPage,
} from './login-pages.rows.ts'
import { WrongCode } from './openid-problem.rows.ts'
import { json, openIdOperation, text } from './openid-row.rows.ts'

/** The most characters of a code; longer text is invalid. */
const MAX_CODE = 13

/** The second factor of a login, and the enrollment in it during a login. */
export function totpOperations(provider: OpenIdProvider) {
  const { totp } = provider
  return [
    openIdOperation(
      provider,
      { ...LOGIN_STEP, route: 'POST /login/totp', summary: 'Proves the second factor of a login by a code' },
      async ({ body, text: formText, headers, url, call, issuer }) => {
        requireLoginType(headers)
        const login = loginBody(body, formText)
        const isForPeople = wantsPage(headers)
        const id = login.id || url.searchParams.get('authRequestID') || url.searchParams.get('id') || ''
        try {
          await totp.pass(call, id, codeOf(login))
          return isForPeople ? await stepPage(provider, issuer, id, await totp.missing(id)) : completed(issuer, id)
        } catch (error) {
          if (isForPeople) return refusedCodePage(provider, id, error)
          throw asWrongCode(error)
        }
      },
    ),
    openIdOperation(
      provider,
      {
        ...LOGIN_STEP,
        route: 'POST /login/totp/enroll',
        summary: 'Begins an enrollment in the second factor',
        status: 201,
      },
      async ({ body, text: formText, headers, url, call }) => {
        requireLoginType(headers)
        const id = requestIdOf(loginBody(body, formText), url)
        const { record, secrets } = await totp.enroll(call, id)
        if (wantsPage(headers)) return enrollmentPage(provider, id, secrets)
        const { createdAt, updatedAt, isVerified } = record
        const [created, updated] = [new Date(createdAt), new Date(updatedAt)]
        return json({ _links: null, createdAt: created, id: record.id, updatedAt: updated, isVerified, ...secrets })
      },
    ),
    openIdOperation(
      provider,
      { ...LOGIN_STEP, route: 'POST /login/totp/enroll/verify', summary: 'Completes that enrollment by a code' },
      async ({ body, text: formText, headers, url, call, issuer }) => {
        requireLoginType(headers)
        const login = loginBody(body, formText)
        const id = requestIdOf(login, url)
        const isForPeople = wantsPage(headers)
        try {
          const missing = await totp.verify(call, id, codeOf(login))
          return isForPeople ? await stepPage(provider, issuer, id, missing) : stepAnswer(issuer, id, missing)
        } catch (error) {
          if (isForPeople) return refusedCodePage(provider, id, error)
          throw error
        }
      },
    ),
    openIdOperation(
      provider,
      { ...LOGIN_STEP, route: 'DELETE /login/totp/enroll', summary: 'Ends an enrollment; a complete one needs a code' },
      async ({ body, text: formText, headers, url, call }) => {
        requireLoginType(headers)
        const login = loginBody(body, formText)
        const code = codeOf({ code: login.code ?? url.searchParams.get('code') ?? '' })
        await totp.remove(call, requestIdOf(login, url), code)
        return json({})
      },
    ),
    openIdOperation(
      provider,
      { route: 'GET /login/auth-queries', summary: 'Lists what is still to be proved', access: 'public', form: true },
      async ({ url }) => {
        const id = url.searchParams.get('id') ?? ''
        const missing = await totp.missing(id).catch((error: unknown) => {
          if (error instanceof ControllerError && error.code === 'UNAUTHORIZED') return undefined
          throw error
        })
        if (missing === undefined) return text('The authentication request failed', { status: 401 })
        return json(authQueriesOf(missing), { headers: missing.totp ? { 'totp-required': 'true' } : {} })
      },
    ),
  ]
}

function codeOf({ code = '' }: LoginBody): string {
  const trimmed = code.trim()
  return trimmed.length <= MAX_CODE ? trimmed : ''
}

/** A wrong code has an error of its own at a login. */
function asWrongCode(error: unknown): unknown {
  return error instanceof ControllerError && error.code === 'MFA_INVALID_TOKEN' ? new WrongCode() : error
}
