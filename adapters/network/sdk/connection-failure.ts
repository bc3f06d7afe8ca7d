import { ApiError } from '../../../src/client/index.ts'

/**
 * The reasons for which a service cannot be dialed or hosted, or a connection cannot go on:
 *
 * - `CONTROLLER_UNREACHABLE`: no trusted controller answers the identity, no controller answers the router of the connection, or the
 *   storage of the controller is unreachable. The message names the cause.
 * - `NOT_AUTHENTICATED`: the controller does not let the identity in: disabled, deleted, or its certificate has ended.
 * - `SECOND_FACTOR_NEEDED`: the identity has to show a second factor first (`identity.mfa`).
 * - `SERVICE_NOT_FOUND`: there is no such service, or the identity may neither dial nor bind it.
 * - `ACCESS_DENIED`: the identity may not dial, or not bind, the service.
 * - `POSTURE_FAILED`: it may by policy, and a posture check does not pass.
 * - `NO_ROUTER`: no router that identity and service may use is online.
 * - `ROUTER_UNREACHABLE`: no such router could be reached, or they did not let the identity in.
 * - `NO_HOST`: the service, or the instance of it, has no host.
 * - `HOST_REFUSED`: its host did not take the connection.
 * - `TIMED_OUT`: no answer in time.
 * - `NO_PEER_KEY`: the connection must be encrypted end to end, and the other end sent no valid key.
 * - `DECRYPTION_FAILED`: the received data differs from the data that the other end sent.
 * - `NOT_PROVED`: the two ends were to prove themselves to each other, and one of them, the router or the controller takes no part, or an
 *   end is another identity. The message names it.
 * - `CONNECTION_LOST`: the connection ended before both ends were done: access was lost, or a router.
 * - `CLOSED`: the identity is closed.
 * - `NOT_ALLOWED`: the controller refused something else; `cause` is its answer.
 */
export type FailureCode = (typeof FAILURE_CODES)[number]

/** Every {@link FailureCode}. */
export const FAILURE_CODES = [
  'CONTROLLER_UNREACHABLE',
  'NOT_AUTHENTICATED',
  'SECOND_FACTOR_NEEDED',
  'SERVICE_NOT_FOUND',
  'ACCESS_DENIED',
  'POSTURE_FAILED',
  'NO_ROUTER',
  'ROUTER_UNREACHABLE',
  'NO_HOST',
  'HOST_REFUSED',
  'TIMED_OUT',
  'NO_PEER_KEY',
  'DECRYPTION_FAILED',
  'NOT_PROVED',
  'CONNECTION_LOST',
  'CLOSED',
  'NOT_ALLOWED',
] as const

/** A service could not be dialed or hosted, or a connection could not go on. `code` is the reason; the message is for people. */
export class ConnectionFailure extends Error {
  readonly code: FailureCode
  /** The ids of the posture checks that do not pass, if a router named them. */
  readonly failingPostureChecks: readonly string[]

  constructor(
    code: FailureCode,
    message: string,
    details: { readonly cause?: unknown; readonly failingPostureChecks?: readonly string[] } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ConnectionFailure'
    this.code = code
    this.failingPostureChecks = details.failingPostureChecks ?? []
  }
}

/** Turns an error of a call to the controller into the failure of a dial or of hosting. */
export function failureOf(error: unknown, task: string): ConnectionFailure {
  if (error instanceof ConnectionFailure) return error
  if (!(error instanceof ApiError)) {
    const told = error instanceof Error ? error.message : String(error)
    return new ConnectionFailure('CONTROLLER_UNREACHABLE', `${task}: no controller answers: ${told}`, { cause: error })
  }
  return new ConnectionFailure(codeOf(error), `${task}: ${error.message}`, { cause: error })
}

function codeOf({ status, code }: ApiError): FailureCode {
  if (code === 'INVALID_POSTURE') return 'POSTURE_FAILED'
  if (code === 'NO_EDGE_ROUTERS_AVAILABLE') return 'NO_ROUTER'
  if (code === 'NOT_FOUND') return 'SERVICE_NOT_FOUND'
  if (status === 401) return 'NOT_AUTHENTICATED'
  return status >= 500 ? 'CONTROLLER_UNREACHABLE' : 'NOT_ALLOWED'
}
