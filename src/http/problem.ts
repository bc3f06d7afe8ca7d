import { ControllerError, type ErrorCause, type ErrorCode } from '../domain/errors.ts'
import type { Logger } from '../ports/logger.ts'
import { API_VERSIONS } from './envelope.ts'
import { jsonResponse } from './json-response.ts'

/** A refusal that only HTTP knows: a status other than its code's, or headers that tell the client what to do. */
export class HttpRefusal extends ControllerError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, status: number, details?: ErrorCause, headers: Readonly<Record<string, string>> = {}) {
    super(code, details)
    this.status = status
    this.headers = headers
  }
}

/** The status of each code. */
export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  NOT_FOUND: 404,
  UNAUTHORIZED: 401,
  METHOD_NOT_ALLOWED: 405,
  COULD_NOT_VALIDATE: 400,
  COULD_NOT_PARSE_BODY: 400,
  REQUEST_ENTITY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA: 415,
  INVALID_FILTER: 400,
  INVALID_SORT_IDENTIFIER: 400,
  INVALID_PAGINATION: 400,
  INVALID_AUTH: 401,
  INVALID_AUTH_METHOD: 400,
  INVALID_POSTURE: 409,
  NO_EDGE_ROUTERS_AVAILABLE: 400,
  INVALID_ENROLLMENT_TOKEN: 400,
  INVALID_ENROLL_METHOD: 400,
  ENROLLMENT_EXPIRED: 400,
  COULD_NOT_PROCESS_CSR: 400,
  ENTITY_CAN_NOT_BE_DELETED: 400,
  ENTITY_CAN_NOT_BE_UPDATED: 400,
  CAN_NOT_DELETE_REFERENCED_ENTITY: 409,
  SERVER_TOO_MANY_REQUESTS: 429,
  TIMEOUT: 503,
  UNHANDLED: 500,
}

const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  NOT_FOUND: 'The resource requested was not found or is no longer available',
  UNAUTHORIZED: 'The request could not be completed. The session is not authorized or the credentials are invalid',
  METHOD_NOT_ALLOWED: 'The resource requested does not support this HTTP verb',
  COULD_NOT_VALIDATE:
    'The supplied request contains an invalid document or no valid accept content were available, see cause',
  COULD_NOT_PARSE_BODY: 'The body of the request could not be parsed',
  REQUEST_ENTITY_TOO_LARGE: 'The request body exceeds the maximum accepted size',
  UNSUPPORTED_MEDIA: 'No suitable accept media types were detected, supports: application/json',
  INVALID_FILTER: 'The filter query supplied is invalid',
  INVALID_SORT_IDENTIFIER: 'The sort order supplied is invalid',
  INVALID_PAGINATION: 'The pagination properties provided are invalid',
  INVALID_AUTH: 'The authentication request failed',
  INVALID_AUTH_METHOD: 'The supplied authentication method is not valid',
  INVALID_POSTURE: 'Posture response data is missing or wrong',
  NO_EDGE_ROUTERS_AVAILABLE: 'No edge routers are assigned and online to handle the requested connection',
  INVALID_ENROLLMENT_TOKEN: 'The supplied token is not valid',
  INVALID_ENROLL_METHOD: 'The supplied enrollment method is not valid',
  ENROLLMENT_EXPIRED: 'The window for this enrollment has expired',
  COULD_NOT_PROCESS_CSR: 'The supplied csr could not be processed',
  ENTITY_CAN_NOT_BE_DELETED: 'The entity requested for delete can not be deleted',
  ENTITY_CAN_NOT_BE_UPDATED: 'The entity requested for update can not be updated',
  CAN_NOT_DELETE_REFERENCED_ENTITY:
    'the entity cannot be deleted because it is referenced by another entity, see cause',
  SERVER_TOO_MANY_REQUESTS:
    'Too many requests to alter state have been issued. Please slow your request rate or try again later.',
  TIMEOUT: 'The requested operation took too much time to reply',
  UNHANDLED: 'An unhandled error occurred',
}

/** The answer to a request that failed. What is not a ControllerError is logged once and masked. */
export function toProblem(error: unknown, requestId: string, logger: Logger): Response {
  if (!(error instanceof ControllerError)) {
    logger.error('request failed unexpectedly', { requestId, error: String(error), stack: stackOf(error) })
    return problemResponse('UNHANDLED', STATUS_OF.UNHANDLED, requestId)
  }
  const { status, headers } =
    error instanceof HttpRefusal ? error : { status: STATUS_OF[error.code], headers: undefined }
  return problemResponse(error.code, status, requestId, error.details, headers)
}

function problemResponse(
  code: ErrorCode,
  status: number,
  requestId: string,
  cause?: ErrorCause,
  headers?: Readonly<Record<string, string>>,
): Response {
  // Deployed servers refuse an oversized body before they know envelopes; clients see it in this bare form.
  if (code === 'REQUEST_ENTITY_TOO_LARGE') return jsonResponse(status, { code, message: MESSAGES[code], cause: null })
  const body = { error: { cause, code, message: MESSAGES[code], requestId }, meta: API_VERSIONS }
  return jsonResponse(status, body, headers)
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined
}
