import { ControllerError, type ErrorCause, type ErrorCode, TokenRefused, TooManyAttempts } from '../../base/errors.ts'
import { DamagedRecord, StorageUnavailable } from '../../ports/record-storage.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { PlainAnswer } from '../exchange.ts'
import { API_VERSIONS, jsonAnswer, tokenChallenge } from './envelope.ts'

/** A refusal that only HTTP knows: a status other than its code's, or headers that direct the client. */
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
  INVALID_FIELD: 400,
  INVALID_ENROLLMENT_NOT_ALLOWED: 409,
  ENROLLMENT_EXISTS: 409,
  INVALID_ENROLLMENT_ALREADY_ENROLLED: 410,
  ENROLLMENT_IDENTITY_ALREADY_ENROLLED: 409,
  ENROLLMENT_CA_NOT_VALID: 400,
  ENROLLMENT_NO_VALID_CAS: 400,
  MISSING_OR_INVALID_CSR: 400,
  CERT_FAILED_VALIDATION: 400,
  CERTIFICATE_FAILED_VALIDATION: 400,
  CERT_IN_USE: 409,
  MISSING_CERT_CLAIM: 400,
  CA_ALREADY_VERIFIED: 409,
  EXPECTED_PEM_CERTIFICATE: 400,
  COULD_NOT_PARSE_DER_BLOCK: 400,
  COULD_NOT_PARSE_PEM_BLOCK: 400,
  INVALID_COMMON_NAME: 400,
  INVALID_CERT_PEM: 400,
  INVALID_CLIENT_CERT: 400,
  CAN_NOT_UPDATE_AUTHENTICATOR: 409,
  MAX_AUTHENTICATOR_METHODS_REACHED: 409,
  MFA_EXISTS: 409,
  MFA_NOT_ENROLLED: 409,
  MFA_INVALID_TOKEN: 400,
  INVALID_BACKING_TOKEN_TYPE: 400,
  RATE_LIMITED: 429,
  ENTITY_CAN_NOT_BE_DELETED: 400,
  ENTITY_CAN_NOT_BE_UPDATED: 400,
  CAN_NOT_DELETE_REFERENCED_ENTITY: 409,
  SERVER_TOO_MANY_REQUESTS: 429,
  TIMEOUT: 503,
  UNHANDLED: 500,
}

/** The message of each code, for people. */
export const MESSAGES: Readonly<Record<ErrorCode, string>> = {
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
  INVALID_FIELD: 'The field contains an invalid value',
  INVALID_ENROLLMENT_NOT_ALLOWED: 'The configuration does not allow this enrollment',
  INVALID_ENROLLMENT_ALREADY_ENROLLED: 'The token provided has already been used to enroll',
  ENROLLMENT_EXISTS: 'ENROLLMENT_EXISTS',
  ENROLLMENT_IDENTITY_ALREADY_ENROLLED:
    'The token supplied for this enrollment already has a matching identity, cannot enroll a new identity',
  ENROLLMENT_CA_NOT_VALID: 'The CA tied to the supplied token is no longer valid',
  ENROLLMENT_NO_VALID_CAS: 'No CAs are valid for this request',
  MISSING_OR_INVALID_CSR: 'The supplied enrollment request is missing or contains an invalid CSR',
  CERT_FAILED_VALIDATION: 'certificate failed to validate against CA',
  CERTIFICATE_FAILED_VALIDATION: "The supplied certificate failed to validate against the CA's certificate chain",
  CERT_IN_USE: 'The certificate supplied is already associated with another identity',
  MISSING_CERT_CLAIM: 'The certificate is expected to contain and externalId, which was not found',
  CA_ALREADY_VERIFIED: 'CA has already been verified',
  EXPECTED_PEM_CERTIFICATE: "expected PEM block type 'CERTIFICATE'",
  COULD_NOT_PARSE_DER_BLOCK: "The certificate's DER block could not be parsed",
  COULD_NOT_PARSE_PEM_BLOCK: "The certificate's PEM block could not be parsed",
  INVALID_COMMON_NAME: 'The common name of the supplied certificate is invalid',
  INVALID_CERT_PEM: 'the supplied certificate PEM is either invalid or contains the incorrect number of certificates',
  INVALID_CLIENT_CERT: 'The provided client certificate is invalid',
  CAN_NOT_UPDATE_AUTHENTICATOR: 'The authenticator cannot be updated in this fashion',
  MAX_AUTHENTICATOR_METHODS_REACHED: 'The identity already has the maximum authenticators of the specified method',
  MFA_EXISTS: 'An MFA record already exists, try removing it',
  MFA_NOT_ENROLLED: 'The current identity is not enrolled in MFA',
  MFA_INVALID_TOKEN: 'An invalid token/code was provided',
  INVALID_BACKING_TOKEN_TYPE: 'The backing token type is invalid',
  RATE_LIMITED: 'The requested operation is rate limited and the rate limit has been exceeded. Please try again later',
  ENTITY_CAN_NOT_BE_DELETED: 'The entity requested for delete can not be deleted',
  ENTITY_CAN_NOT_BE_UPDATED: 'The entity requested for update can not be updated',
  CAN_NOT_DELETE_REFERENCED_ENTITY:
    'the entity cannot be deleted because it is referenced by another entity, see cause',
  SERVER_TOO_MANY_REQUESTS:
    'Too many requests to alter state have been issued. Please slow your request rate or try again later.',
  TIMEOUT: 'The requested operation took too much time to reply',
  UNHANDLED: 'An unhandled error occurred',
}

/** Seconds after which a client may try again while the storage is away, or the controller starts again. */
export const RETRY_AFTER_SECONDS = '5'

/** The answer to a request that failed. Any error but a ControllerError is logged once and masked. */
export function toProblem(error: unknown, requestId: string, logger: Logger): PlainAnswer {
  if (error instanceof StorageUnavailable) {
    const level = error.reason === 'busy' ? 'warn' : 'error'
    logger[level]('the storage is not available', { requestId, reason: error.reason, error: error.message })
    const cause = { code: 'UNHANDLED', message: `the storage is not available: ${error.reason}` }
    return problemResponse('TIMEOUT', STATUS_OF.TIMEOUT, requestId, cause, { 'retry-after': RETRY_AFTER_SECONDS })
  }
  if (error instanceof DamagedRecord) {
    logger.error('a stored record is damaged', { requestId, kind: error.kind, id: error.id, error: error.message })
    const cause = { code: 'UNHANDLED', message: error.message }
    return problemResponse('UNHANDLED', STATUS_OF.UNHANDLED, requestId, cause)
  }
  if (!(error instanceof ControllerError)) {
    logger.error('request failed unexpectedly', { requestId, error: String(error), stack: stackOf(error) })
    return problemResponse('UNHANDLED', STATUS_OF.UNHANDLED, requestId)
  }
  const { status, headers } =
    error instanceof HttpRefusal ? error : { status: STATUS_OF[error.code], headers: headersOf(error) }
  return problemResponse(error.code, status, requestId, error.details, headers)
}

function problemResponse(
  code: ErrorCode,
  status: number,
  requestId: string,
  cause?: ErrorCause,
  headers?: Readonly<Record<string, string>>,
): PlainAnswer {
  // Deployed servers refuse an oversized body before they know envelopes; clients see it in this bare form.
  if (code === 'REQUEST_ENTITY_TOO_LARGE') return jsonAnswer(status, { code, message: MESSAGES[code], cause: null })
  const body = { error: { cause, code, message: MESSAGES[code], requestId }, meta: API_VERSIONS }
  return jsonAnswer(status, body, headers)
}

function headersOf(error: ControllerError): Readonly<Record<string, string>> {
  const challenge = error instanceof TokenRefused ? tokenChallenge(error) : undefined
  if (challenge !== undefined) return { 'www-authenticate': challenge }
  return error instanceof TooManyAttempts ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) } : {}
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined
}
