import { ControllerError, type TokenProblem } from '../base/errors.ts'
import { isAdministrator, permits } from '../facts/authority/authority.rules.ts'
import type { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import type { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import type { identities } from '../facts/identities/identity.resource.ts'
import type { apiSessions } from '../facts/login/api-session.resource.ts'
import type { ReadToken } from '../facts/oidc/token-claims.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'

/** Who is calling: an identity through one of its API sessions. */
export interface Caller {
  readonly apiSession: RecordOf<typeof apiSessions>
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
  /** The API session token, or the access token, as the caller sent it. */
  readonly token: string
  /** The claims of the access token, where the session is made of tokens. */
  readonly accessToken?: Omit<ReadToken, 'session'>
  /** False while a second factor is missing. */
  readonly isFullyAuthenticated: boolean
  /** The factors that are still to be proved. */
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

/** The circumstances of a call; none of them gives a right. */
export interface Circumstances {
  readonly remoteAddress?: string
  /** The client's certificate chain as presented in the TLS handshake, DER, leaf first. */
  readonly clientCertificates?: readonly Uint8Array[]
  /** The bearer tokens of the request, as sent; nothing about them is trusted. */
  readonly bearerTokens?: readonly string[]
  readonly serviceView?: ServiceView
  /** Names the request in the log and in the audit trail. */
  readonly requestId?: string
  /** The change that it takes back, by its audit record: the trail tells it of what the call changes. */
  readonly undoes?: { readonly record: string; readonly kind: string; readonly entityId: string }
}

/** The controller, or the host that runs it, acts by itself, with every right. */
export interface SystemCall extends Circumstances {
  readonly by: 'system'
  /** Who holds the store and works on it by a command; absent where the controller or its host acts. */
  readonly operator?: { readonly name: string; readonly command: string }
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

/** Reports whether a call may read the entities of a permission, such as `service-policy`. */
export function mayRead(call: Call, entity: string): boolean {
  if (isAdminCall(call)) return true
  if (call.by !== 'caller' || !call.caller.isFullyAuthenticated) return false
  return permits(call.caller.identity.permissions, { entity, action: 'read' })
}

/**
 * Refuses an answer that tells of several kinds to a caller who may not read them all: what is kept from it, it would learn
 * by asking. Error: `UNAUTHORIZED`, which names the first permission that is missing.
 */
export function requireReading(call: Call, entities: readonly string[]): void {
  const missing = entities.find((entity) => !mayRead(call, entity))
  if (missing === undefined) return
  throw new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message: `it takes the permission ${missing}.read` })
}
