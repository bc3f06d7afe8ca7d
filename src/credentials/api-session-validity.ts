import { ControllerError } from '../base/errors.ts'
import type { Call, Caller, MissingFactors } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { isAdministrator, isDisabled, withGrantsAt, withRightsAt } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { phaseOf } from '../facts/credentials/login-basis.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'
import { basisLost, provesStill } from './login-basis.ts'

type ApiSession = RecordOf<typeof apiSessions>
type Identity = RecordOf<typeof identities>
type AuthPolicy = RecordOf<typeof authPolicies>

/**
 * The state of an API session: `over` for a session that has to end for good; `shut-out` while its identity is gone or
 * disabled, or the session is from the future of a clock that went back.
 */
export type ApiSessionValidity =
  | { readonly is: 'underway'; readonly identity: Identity; readonly authPolicy: AuthPolicy }
  | { readonly is: 'over' | 'shut-out' }

/**
 * Judges a stored API session at `now` (epoch ms) on the facts of a snapshot: its time, its identity, and whether the credentials that it
 * began with would be accepted now. Every use of a session asks this first, in every process: requests, refresh tokens, circuits,
 * terminators and event streams. The factors that it still has to prove are another question.
 */
export async function apiSessionValidity(
  context: EngineContext,
  tx: ReadTransaction,
  stored: ApiSession,
  now: number,
): Promise<ApiSessionValidity> {
  const time = phaseOf(stored, now, context.settings)
  if (time !== 'underway') return { is: time === 'over' ? 'over' : 'shut-out' }
  const current = await tx.collection(identities).get(stored.identityId)
  if (current === undefined || isDisabled(current, now)) return { is: 'shut-out' }
  // Another process may have given these rights, which end here as well.
  if (current.rightsUntil !== null) context.timetable.notLater('rights', 'next', current.rightsUntil)
  const identity = withGrantsAt(withRightsAt(current, now), now)
  const authPolicy = await tx.collection(authPolicies).get(identity.authPolicyId)
  if (authPolicy === undefined) return { is: 'shut-out' }
  const lost = await basisLost(context, tx, stored, identity, authPolicy, now)
  return lost === undefined ? { is: 'underway', identity, authPolicy } : { is: 'over' }
}

/**
 * Lists the factors that a session still has to prove by the store: the signer that an auth policy requires is always missing
 * here, because its token comes with each request.
 */
async function missingFactors(
  tx: ReadTransaction,
  apiSession: ApiSession,
  { secondary }: AuthPolicy,
): Promise<MissingFactors> {
  const needsTotp = (apiSession.isMfaRequired || secondary.requireTotp) && !apiSession.isMfaComplete
  const mfa = needsTotp ? await findOne(tx, mfas, 'identityId', apiSession.identityId) : undefined
  const signer = secondary.requireExtJwtSigner
    ? await tx.collection(externalJwtSigners).get(secondary.requireExtJwtSigner)
    : undefined
  return { ...(needsTotp && { totp: { isEnrolled: mfa?.isVerified ?? false } }), ...(signer && { signer }) }
}

/**
 * Whether a factor is missing where no request brings a token, as at a router. The signer that the policy requires counts as proved by
 * the last request that showed a token of it, or by the login, as long as that token would still be accepted.
 */
export async function isMissingBetweenRequests(
  context: EngineContext,
  tx: ReadTransaction,
  apiSession: ApiSession,
  { identity, authPolicy }: { readonly identity: Identity; readonly authPolicy: AuthPolicy },
): Promise<boolean> {
  const { totp, signer } = await missingFactors(tx, apiSession, authPolicy)
  if (totp !== undefined || signer === undefined) return totp !== undefined
  return !provesStill(context, apiSession.signerProof, signer, identity, context.clock.now())
}

/** A caller with the factors that it still has to prove. */
export function withMissing(who: Omit<Caller, 'missing' | 'isFullyAuthenticated'>, missing: MissingFactors): Caller {
  return { ...who, missing, isFullyAuthenticated: missing.totp === undefined && missing.signer === undefined }
}

/** The holder of an API session, and the factors that are still to be proved in it. */
export async function callerOfSession(
  tx: ReadTransaction,
  apiSession: ApiSession,
  { identity, authPolicy }: { readonly identity: Identity; readonly authPolicy: AuthPolicy },
  token: string,
): Promise<Caller> {
  const missing = await missingFactors(tx, apiSession, authPolicy)
  return withMissing({ apiSession, identity, authPolicy, token }, missing)
}

/**
 * Judges the caller of a write, within it. An anonymous call writes nothing: it redeems a credential first. A caller is judged once more:
 * since it was admitted, its API session may have ended or lost its basis, and its identity may have lost rights. Error: `UNAUTHORIZED`.
 */
export async function requireValidSession(
  context: EngineContext,
  tx: ReadTransaction,
  call: Call,
  now: number,
): Promise<void> {
  if (call.by === 'anonymous') throw new ControllerError('UNAUTHORIZED')
  if (call.by === 'system') return
  const { apiSession, identity, isFullyAuthenticated } = call.caller
  const session = await tx.collection(apiSessions).get(apiSession.id)
  // The caller's process may remember a later use than the stored one.
  const lastActivityAt = Math.max(apiSession.lastActivityAt, session?.lastActivityAt ?? 0)
  const validity = session && (await apiSessionValidity(context, tx, { ...session, lastActivityAt }, now))
  if (session === undefined || validity?.is !== 'underway') throw new ControllerError('UNAUTHORIZED')
  const { identity: current } = validity
  const lacksFactor = isFullyAuthenticated && session.isMfaRequired && !session.isMfaComplete
  const isDemoted = isAdministrator(identity) && !isAdministrator(current)
  const lost = identity.permissions.some((permission) => !current.permissions.includes(permission))
  if (lacksFactor || isDemoted || lost) throw new ControllerError('UNAUTHORIZED')
}
