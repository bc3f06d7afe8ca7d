import { ControllerError, type TokenProblem } from '../../domain/errors.ts'
import { isAdministrator } from '../../domain/identity.ts'
import type { ReadToken } from '../../domain/oidc/claims.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { identities } from '../../resources/identities/identities.ts'
import type { apiSessions } from '../../resources/login/api-sessions.ts'
import type { authPolicies } from '../../resources/login/auth-policies.ts'
import type { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'

/** Who is calling: an identity through one of its API sessions. */
export interface Caller {
  readonly apiSession: RecordOf<typeof apiSessions>
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
  /** The API session token, or the access token, as the caller sent it. */
  readonly token: string
  /** What the access token says of itself, where the session is made of tokens. */
  readonly accessToken?: Omit<ReadToken, 'session'>
  /** False while a second factor is missing. */
  readonly isFullyAuthenticated: boolean
  /** What is still to be proved. */
  readonly missing: MissingFactors
}

/** How services are looked at, where that differs from how the caller does. */
export interface ServiceView {
  /** The identity in whose place permissions, configs and posture queries are shown. */
  readonly identityId?: string
  /** Config types by id or name, or `all`, instead of those of the API session. */
  readonly configTypes?: readonly string[]
}

/** Second factors that a session needs and has not proved. */
export interface MissingFactors {
  /** A one-time password, of an authenticator app that may still have to be enrolled. */
  readonly totp?: { readonly isEnrolled: boolean }
  /** A token of this external signer with every request. */
  readonly signer?: RecordOf<typeof externalJwtSigners>
  readonly signerProblem?: TokenProblem
}

/** What is known of how a call came; none of it gives a right. */
export interface Circumstances {
  readonly remoteAddress?: string
  /** The client's certificate chain as presented in the TLS handshake, DER, leaf first. */
  readonly clientCertificates?: readonly Uint8Array[]
  /** The bearer tokens of the request, as sent; nothing about them is trusted. */
  readonly bearerTokens?: readonly string[]
  readonly serviceView?: ServiceView
}

/** The controller, or the host that runs it, acts by itself, with every right. */
export interface SystemCall extends Circumstances {
  readonly by: 'system'
}

/** Somebody calls who has not said who it is, and has no right of its own. */
export interface AnonymousCall extends Circumstances {
  readonly by: 'anonymous'
}

/** An identity calls, through one of its API sessions. */
export interface CallerCall extends Circumstances {
  readonly by: 'caller'
  readonly caller: Caller
}

/** The circumstances of one call into the engine: `by` says with whose rights. */
export type Call = SystemCall | AnonymousCall | CallerCall

/**
 * The controller or its host acting by itself, with every right.
 *
 * @example
 * await controller.engine.services.create(SYSTEM_CALL, { name: 'web' })
 */
export const SYSTEM_CALL: SystemCall = { by: 'system' }

/**
 * How a call goes on once it redeemed a credential: an enrollment token, a password, an authorization code. What it may do
 * then is what the credential is for, and no more than the operation writes. A caller stays who it is.
 */
export function redeemed(call: Call): Call {
  return call.by === 'anonymous' ? { ...call, by: 'system' } : call
}

/** Reports whether a call has every right: the controller itself, or a fully authenticated admin. */
export function isAdminCall(call: Call): boolean {
  switch (call.by) {
    case 'system':
      return true
    case 'anonymous':
      return false
    case 'caller':
      return call.caller.isFullyAuthenticated && isAdministrator(call.caller.identity)
  }
}

/** The caller, where a call has one. */
export function knownCaller(call: Call): Caller | undefined {
  return call.by === 'caller' ? call.caller : undefined
}

/** The caller of an operation that somebody does for itself. Error: `UNAUTHORIZED` for a call without one. */
export function callerOf(call: Call): Caller {
  if (call.by !== 'caller') throw new ControllerError('UNAUTHORIZED')
  return call.caller
}
