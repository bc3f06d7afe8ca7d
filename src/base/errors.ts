/** Every error code that this controller can answer. Codes are API, messages are for people. */
export type ErrorCode =
  | 'NOT_FOUND'
  | 'UNAUTHORIZED'
  | 'METHOD_NOT_ALLOWED'
  | 'COULD_NOT_VALIDATE'
  | 'COULD_NOT_PARSE_BODY'
  | 'REQUEST_ENTITY_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA'
  | 'INVALID_FILTER'
  | 'INVALID_SORT_IDENTIFIER'
  | 'INVALID_PAGINATION'
  | 'INVALID_AUTH'
  | 'INVALID_AUTH_METHOD'
  | 'INVALID_POSTURE'
  | 'NO_EDGE_ROUTERS_AVAILABLE'
  | 'INVALID_ENROLLMENT_TOKEN'
  | 'INVALID_ENROLL_METHOD'
  | 'ENROLLMENT_EXPIRED'
  | 'COULD_NOT_PROCESS_CSR'
  | 'INVALID_FIELD'
  | 'INVALID_ENROLLMENT_NOT_ALLOWED'
  | 'ENROLLMENT_EXISTS'
  | 'INVALID_ENROLLMENT_ALREADY_ENROLLED'
  | 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED'
  | 'ENROLLMENT_CA_NOT_VALID'
  | 'ENROLLMENT_NO_VALID_CAS'
  | 'MISSING_OR_INVALID_CSR'
  | 'CERT_FAILED_VALIDATION'
  | 'CERTIFICATE_FAILED_VALIDATION'
  | 'CERT_IN_USE'
  | 'MISSING_CERT_CLAIM'
  | 'CA_ALREADY_VERIFIED'
  | 'EXPECTED_PEM_CERTIFICATE'
  | 'COULD_NOT_PARSE_DER_BLOCK'
  | 'COULD_NOT_PARSE_PEM_BLOCK'
  | 'INVALID_COMMON_NAME'
  | 'INVALID_CERT_PEM'
  | 'INVALID_CLIENT_CERT'
  | 'CAN_NOT_UPDATE_AUTHENTICATOR'
  | 'MAX_AUTHENTICATOR_METHODS_REACHED'
  | 'MFA_EXISTS'
  | 'MFA_NOT_ENROLLED'
  | 'MFA_INVALID_TOKEN'
  | 'INVALID_BACKING_TOKEN_TYPE'
  | 'RATE_LIMITED'
  | 'ENTITY_CAN_NOT_BE_DELETED'
  | 'ENTITY_CAN_NOT_BE_UPDATED'
  | 'CAN_NOT_DELETE_REFERENCED_ENTITY'
  | 'SERVER_TOO_MANY_REQUESTS'
  | 'TIMEOUT'
  | 'UNHANDLED'

/**
 * The cause of a failed request, as shown to the caller: a field with a reason, or a message with data. `value` is text and never a secret.
 */
export interface ErrorCause {
  readonly field?: string
  readonly reason?: string
  readonly value?: string
  readonly code?: string
  readonly message?: string
  readonly data?: unknown
}

/** A request that cannot be fulfilled, with a code of a closed set. Any other exception is a bug and is masked. */
export class ControllerError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorCause | undefined

  constructor(code: ErrorCode, details?: ErrorCause, options?: ErrorOptions) {
    super(details?.reason ?? details?.message ?? code, options)
    this.name = 'ControllerError'
    this.code = code
    this.details = details
  }
}

/** A caller tried too often. It may try again after `retryAfterMs`. */
export class TooManyAttempts extends ControllerError {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, code: 'RATE_LIMITED' | 'SERVER_TOO_MANY_REQUESTS' = 'RATE_LIMITED') {
    super(code)
    this.retryAfterMs = retryAfterMs
  }
}

/** The problem with the tokens of external signers in a request. */
export type TokenProblem = 'missing' | 'invalid' | 'expired'

/** A request that needs a token of an external signer and carries no valid token. */
export class TokenRefused extends ControllerError {
  readonly factor: 'primary' | 'secondary'
  readonly problem: TokenProblem
  /** The signers whose tokens are accepted. */
  readonly signers: readonly { readonly id: string; readonly issuer: string }[]

  constructor(factor: TokenRefused['factor'], problem: TokenProblem, signers: TokenRefused['signers']) {
    super('UNAUTHORIZED')
    this.factor = factor
    this.problem = problem
    this.signers = signers
  }
}

/** The error of a field with an invalid value. */
export function invalidField(field: string, reason: string, value?: unknown): ControllerError {
  return new ControllerError('COULD_NOT_VALIDATE', { field, reason, value: asText(value) })
}

/** The error of a field whose value cannot be accepted in the circumstances; some operations answer this code. */
export function unacceptableField(field: string, reason: string, value?: unknown): ControllerError {
  const shown = asText(value)
  const message = `the value '${shown.slice(0, 64)}' for '${field}' is invalid: ${reason}`
  return new ControllerError('INVALID_FIELD', { field, reason, value: shown, code: 'UNHANDLED', message })
}

/** The error of an unknown id: `identity with id x not found`. */
export function notFound(singular: string, id: string): ControllerError {
  return new ControllerError('NOT_FOUND', { code: 'UNHANDLED', message: `${singular} with id ${id} not found` })
}

/** Text of a value as deployed clients show it: lists in brackets, absent values as `<nil>`. */
function asText(value: unknown): string {
  if (value === undefined || value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(asText).join(' ')}]`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The text of a thrown value. Code of a host may throw an object that has no text; {@link String} would throw for it. */
export function errorText(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'an error without a text'
  }
}
