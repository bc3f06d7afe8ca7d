import type { TokenProblem } from '../../domain/errors.ts'
import type { apiSessions } from '../../resources/api-sessions.ts'
import type { authPolicies } from '../../resources/auth-policies.ts'
import type { externalJwtSigners } from '../../resources/external-jwt-signers.ts'
import type { identities } from '../../resources/identities.ts'
import type { RecordOf } from '../../resources/resource.ts'

/** Who is calling: an identity through one of its API sessions. */
export interface Caller {
  readonly apiSession: RecordOf<typeof apiSessions>
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
  /** The API session token as the caller sent it. */
  readonly token: string
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

/** The circumstances of one call into the engine. */
export interface Call {
  /** Absent for anonymous calls and for the controller's own doing. */
  readonly caller?: Caller
  readonly remoteAddress?: string
  /** The client's certificate chain as presented in the TLS handshake, DER, leaf first. */
  readonly clientCertificates?: readonly Uint8Array[]
  /** The bearer tokens of the request, as sent; nothing about them is trusted. */
  readonly bearerTokens?: readonly string[]
  readonly serviceView?: ServiceView
}

/** The controller acting by itself, with every right. */
export const SYSTEM_CALL: Call = {}

/** Reports whether a call has every right: the controller itself, or a fully authenticated admin. */
export function isAdminCall(call: Call): boolean {
  return call.caller === undefined || (call.caller.isFullyAuthenticated && isAdmin(call.caller))
}

export function isAdmin(caller: Caller): boolean {
  return caller.identity.isAdmin || caller.identity.isDefaultAdmin
}

/** The caller of an operation that declares that it needs one. */
export function callerOf(call: Call): Caller {
  if (call.caller === undefined) throw new Error('an operation without caller asked who it is')
  return call.caller
}
