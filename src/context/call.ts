import { ControllerError, type TokenProblem } from '../base/errors.ts'
import { isAdministrator, type Permission, permits } from '../facts/authority/authority.rules.ts'
import type { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import type { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import type { identities } from '../facts/identities/identity.resource.ts'
import type { apiSessions } from '../facts/login/api-session.resource.ts'
import type { ReadToken } from '../facts/oidc/token-claims.rules.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'

/** The caller: an identity with one of its API sessions. */
export interface Caller {
  readonly apiSession: RecordOf<typeof apiSessions>
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
  /** The API session token, or the access token, as the caller sent it. */
  readonly token: string
  /** The claims of the access token, for sessions of OpenID Connect. */
  readonly accessToken?: Omit<ReadToken, 'session'>
  /** False while a second factor is missing. */
  readonly isFullyAuthenticated: boolean
  /** The factors that the caller has not proved yet. */
  readonly missing: MissingFactors
}

/** The member by which Node's `console.log` asks an object for what it prints. */
const PRINTED = Symbol.for('nodejs.util.inspect.custom')

/** The caller for its host: a log of it, and its JSON, name the identity and the API session, without token and digests. */
export function callerForHost<C extends Caller>(caller: C): C {
  const { apiSession, identity, isFullyAuthenticated, missing } = caller
  const named = {
    identity: { id: identity.id, name: identity.name },
    apiSession: { id: apiSession.id, method: apiSession.method },
    isFullyAuthenticated,
    missing: Object.keys(missing),
  }
  const value = () => named
  return Object.defineProperties({ ...caller }, { toJSON: { value }, [PRINTED]: { value } })
}

/** The view of services, where it differs from the caller's own. */
export interface ServiceView {
  /** The identity whose permissions, configs and posture queries are shown. */
  readonly identityId?: string
  /** Config types by id or name, or `all`, in place of the API session's. */
  readonly configTypes?: readonly string[]
}

/** Second factors that a session needs and has not proved. */
export interface MissingFactors {
  /** A one-time password from an authenticator app, which may not be enrolled yet. */
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
  /** The id of the request in the log and the audit trail. */
  readonly requestId?: string
  /** The change that the call undoes, by its audit record. The trail links the call's changes to it. */
  readonly undoes?: { readonly record: string; readonly kind: string; readonly entityId: string }
}

/** A call by the controller or its host, with every right. */
export interface SystemCall extends Circumstances {
  readonly by: 'system'
  /** The operator whose command works on the store; absent where the controller or its host acts. */
  readonly operator?: { readonly name: string; readonly command: string }
}

/** A call without an identity, which has no rights of its own. */
export interface AnonymousCall extends Circumstances {
  readonly by: 'anonymous'
}

/** A call by an identity, with one of its API sessions. */
export interface CallerCall extends Circumstances {
  readonly by: 'caller'
  readonly caller: Caller
}

/** A call into the engine; `by` says whose rights it has. */
export type Call = SystemCall | AnonymousCall | CallerCall

/**
 * The call of the controller or its host, with every right.
 *
 * @example
 * await controller.engine.services.create(SYSTEM_CALL, { name: 'web' })
 */
export const SYSTEM_CALL: SystemCall = { by: 'system' }

/**
 * The call after it redeemed a credential: an enrollment token, a password, an authorization code. An anonymous call then gets the rights
 * of the system, which its operation uses only for the purpose of the credential. A known caller stays the caller.
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

/** The caller of an operation that an identity performs for itself. Error: `UNAUTHORIZED` for a call without a caller. */
export function callerOf(call: Call): Caller {
  if (call.by !== 'caller') throw new ControllerError('UNAUTHORIZED')
  return call.caller
}

/** Reports whether a call may do what a permission allows. */
export function may(call: Call, permission: Permission): boolean {
  if (isAdminCall(call)) return true
  if (call.by !== 'caller' || !call.caller.isFullyAuthenticated) return false
  return permits(call.caller.identity.permissions, permission)
}

/** Reports whether a call may read the entities of a permission, such as `service-policy`. */
export function mayRead(call: Call, entity: string): boolean {
  return may(call, { entity, action: 'read' })
}

/**
 * Refuses an answer about several kinds of entities to a caller without the permission to read all of them: the answer would reveal hidden
 * entities. Error: `UNAUTHORIZED`, naming the first missing permission.
 */
export function requireReading(call: Call, entities: readonly string[]): void {
  const missing = entities.find((entity) => !mayRead(call, entity))
  if (missing === undefined) return
  throw refusalWithout({ entity: missing, action: 'read' })
}

/** The refusal of a call that lacks a permission, which it names. */
export function refusalWithout({ entity, action }: Permission): ControllerError {
  const message = `it takes the permission ${entity}.${action}`
  return new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
}
