import { ControllerError, TokenRefused, TooManyAttempts } from '../../base/errors.ts'
import { OAuthError } from '../../facts/oidc/oauth-error.rules.ts'
import type { PlainAnswer, PlainRequest } from '../../http/exchange.ts'
import { answerOf, jsonAnswer, tokenChallenge } from '../../http/pipeline/envelope.ts'
import { HttpRefusal, MESSAGES, STATUS_OF } from '../../http/pipeline/problem.ts'
import { UnknownPath } from '../../http/pipeline/router.ts'
import { StorageUnavailable } from '../../ports/record-storage.ts'
import type { Logger } from '../../ports/runtime.ts'
import { UserInfoRefused } from './discovery.rows.ts'

const RETRY_AFTER_SECONDS = '5'

/** A wrong code of a second factor at a login. */
export class WrongCode extends Error {}

/**
 * The answer of the provider to a request that failed: in the words of OAuth 2.0 at its protocol endpoints, and as bare
 * `code` and `message` at the login steps, as deployed clients read them. A bug is logged once and masked.
 */
export function toOpenIdProblem(error: unknown, request: PlainRequest, requestId: string, logger: Logger): PlainAnswer {
  if (error instanceof UnknownPath) return textAnswer(404, '404 page not found\n')
  if (error instanceof UserInfoRefused) return oauthAnswer(401, error.code, error.description)
  if (error instanceof WrongCode) return jsonAnswer(400, WRONG_CODE)
  if (error instanceof OAuthError) return oauthAnswer(400, error.code, error.description)
  const isLogin = /^\/oidc\/+login\//.test(new URL(request.url).pathname)
  if (error instanceof ControllerError) return isLogin ? bareAnswer(error) : asOAuth(error)
  if (error instanceof StorageUnavailable) {
    logger.warn('the storage is not available', { requestId, reason: error.reason, error: error.message })
    const headers = { 'retry-after': RETRY_AFTER_SECONDS }
    const description = `the storage is not available: ${error.reason}`
    return isLogin
      ? jsonAnswer(503, { code: 'TIMEOUT', message: MESSAGES.TIMEOUT }, headers)
      : oauthAnswer(503, 'temporarily_unavailable', description, headers)
  }
  const stack = error instanceof Error ? error.stack : undefined
  logger.error('request failed unexpectedly', { requestId, error: String(error), stack })
  return isLogin
    ? jsonAnswer(500, { code: 'UNHANDLED', message: MESSAGES.UNHANDLED })
    : oauthAnswer(500, 'server_error', `An unexpected error occurred; request ${requestId}`)
}

/** As deployed clients know it, blanks and all. */
const WRONG_CODE = { code: 'INVALID TOTP CODE', message: 'an invalid TOTP code was supplied' }

function asOAuth(error: ControllerError): PlainAnswer {
  if (error.code === 'REQUEST_ENTITY_TOO_LARGE') return bareAnswer(error)
  const status = error instanceof HttpRefusal ? error.status : STATUS_OF[error.code]
  if (status === 405) return textAnswer(405, '')
  const code = status === 429 || status === 503 ? 'temporarily_unavailable' : 'invalid_request'
  return oauthAnswer(status, code, error.message, headersOf(error))
}

function bareAnswer(error: ControllerError): PlainAnswer {
  // For a form the pipeline has a code of its own, which says that the client accepts no form of the answer.
  const own = error.code === 'UNSUPPORTED_MEDIA' ? 406 : STATUS_OF[error.code]
  const status = error instanceof HttpRefusal ? error.status : own
  if (status === 405) return textAnswer(405, '')
  const { details } = error
  const cause = details && { ...details, code: details.code ?? 'UNHANDLED', message: details.message ?? details.reason }
  const code = BARE_CODES.get(status) ?? error.code
  const message = details?.field === 'Content-Type' && details.reason ? details.reason : MESSAGES[error.code]
  return jsonAnswer(status, { ...(cause && { cause }), code, message }, headersOf(error))
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

function oauthAnswer(
  status: number,
  error: string,
  description: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): PlainAnswer {
  return jsonAnswer(status, { error, ...(description && { error_description: description }) }, headers)
}

function textAnswer(status: number, body: string): PlainAnswer {
  return answerOf(status, 'text/plain; charset=utf-8', body)
}
