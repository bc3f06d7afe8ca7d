import { ControllerError, TokenRefused, TooManyAttempts } from '../../domain/errors.ts'
import { OAuthError } from '../../domain/oidc/oauth-error.ts'
import type { Logger } from '../../ports/logger.ts'
import { StorageUnavailable } from '../../ports/storage.ts'
import { jsonResponse } from '../pipeline/answer/json-response.ts'
import { HttpRefusal, MESSAGES, STATUS_OF } from '../pipeline/answer/problem.ts'
import { tokenChallenge } from '../pipeline/answer/token-challenge.ts'
import { UnknownPath } from '../pipeline/router.ts'
import { UserInfoRefused } from './user-info.ts'

const RETRY_AFTER_SECONDS = '5'

/** A wrong code of a second factor, where somebody logs in. */
export class WrongCode extends Error {}

/**
 * The answer of the provider to a request that failed: in the words of OAuth 2.0 at its protocol endpoints, bare `code` and
 * `message` where somebody logs in, as deployed clients read them. What is a bug is logged once and masked.
 */
export function toOpenIdProblem(error: unknown, request: Request, requestId: string, logger: Logger): Response {
  if (error instanceof UnknownPath) return textResponse(404, '404 page not found\n')
  if (error instanceof UserInfoRefused) return oauthResponse(401, error.code, error.description)
  if (error instanceof WrongCode) return jsonResponse(400, WRONG_CODE)
  if (error instanceof OAuthError) return oauthResponse(400, error.code, error.description)
  const isLogin = /^\/oidc\/+login\//.test(new URL(request.url).pathname)
  if (error instanceof ControllerError) return isLogin ? bareResponse(error) : asOAuth(error)
  if (error instanceof StorageUnavailable) {
    logger.warn('the storage is not available', { requestId, reason: error.reason, error: error.message })
    const headers = { 'retry-after': RETRY_AFTER_SECONDS }
    const description = `the storage is not available: ${error.reason}`
    return isLogin
      ? jsonResponse(503, { code: 'TIMEOUT', message: MESSAGES.TIMEOUT }, headers)
      : oauthResponse(503, 'temporarily_unavailable', description, headers)
  }
  const stack = error instanceof Error ? error.stack : undefined
  logger.error('request failed unexpectedly', { requestId, error: String(error), stack })
  return isLogin
    ? jsonResponse(500, { code: 'UNHANDLED', message: MESSAGES.UNHANDLED })
    : oauthResponse(500, 'server_error', `An unexpected error occurred; request ${requestId}`)
}

/** As deployed clients know it, blanks and all. */
const WRONG_CODE = { code: 'INVALID TOTP CODE', message: 'an invalid TOTP code was supplied' }

function asOAuth(error: ControllerError): Response {
  if (error.code === 'REQUEST_ENTITY_TOO_LARGE') return bareResponse(error)
  const status = error instanceof HttpRefusal ? error.status : STATUS_OF[error.code]
  if (status === 405) return textResponse(405, '')
  const code = status === 429 || status === 503 ? 'temporarily_unavailable' : 'invalid_request'
  return oauthResponse(status, code, error.message, headersOf(error))
}

function bareResponse(error: ControllerError): Response {
  // Of a form, the pipeline says with a code of its own that no form of the answer is accepted.
  const own = error.code === 'UNSUPPORTED_MEDIA' ? 406 : STATUS_OF[error.code]
  const status = error instanceof HttpRefusal ? error.status : own
  if (status === 405) return textResponse(405, '')
  const { details } = error
  const cause = details && { ...details, code: details.code ?? 'UNHANDLED', message: details.message ?? details.reason }
  const code = BARE_CODES.get(status) ?? error.code
  const message = details?.field === 'Content-Type' && details.reason ? details.reason : MESSAGES[error.code]
  return jsonResponse(status, { ...(cause && { cause }), code, message }, headersOf(error))
}

/** Codes that deployed clients see here alone. */
const BARE_CODES: ReadonlyMap<number, string> = new Map([
  [406, 'NOT_ACCEPTABLE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
])

function headersOf(error: ControllerError): Readonly<Record<string, string>> {
  if (error instanceof HttpRefusal) return error.headers
  const challenge = error instanceof TokenRefused ? tokenChallenge(error) : undefined
  if (challenge !== undefined) return { 'www-authenticate': challenge }
  return error instanceof TooManyAttempts ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) } : {}
}

function oauthResponse(
  status: number,
  error: string,
  description: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonResponse(status, { error, ...(description && { error_description: description }) }, headers)
}

function textResponse(status: number, body: string): Response {
  return new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}
