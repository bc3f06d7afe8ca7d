import { hasRights } from '../../domain/authority.ts'
import { ControllerError } from '../../domain/errors.ts'
import { isAdministrator, isDisabled } from '../../domain/identity.ts'
import { standingOf } from '../../domain/login/api-session-end.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { mfas } from '../../resources/login/mfas.ts'
import type { Call, Caller, MissingFactors } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { findOne } from '../records/find-one.ts'
import { basisLost, provesStill } from './login-basis.ts'

type ApiSession = RecordOf<typeof apiSessions>
type Identity = RecordOf<typeof identities>
type AuthPolicy = RecordOf<typeof authPolicies>

/**
 * How an API session stands: `over` for one that has to end and never comes back; `shut-out` while its identity is gone or
 * disabled, or the session is from the future of a clock that went back.
 */
export type ApiSessionStanding =
  | { readonly is: 'underway'; readonly identity: Identity; readonly authPolicy: AuthPolicy }
  | { readonly is: 'over' | 'shut-out' }

/**
 * Judges a stored API session at `now` (epoch ms) on the facts of a snapshot: its time, its identity, and whether the
 * credentials that it began with would let in now. Whoever acts by a session asks this first, in every process: requests,
 * refresh tokens, circuits, terminators and event streams. Which factors it still has to prove is another question.
 */
export async function apiSessionStanding(
  context: Pick<EngineContext, 'digest' | 'settings'>,
  tx: ReadTransaction,
  stored: ApiSession,
  now: number,
): Promise<ApiSessionStanding> {
  const time = standingOf(stored, now, context.settings)
  if (time !== 'underway') return { is: time === 'over' ? 'over' : 'shut-out' }
  const identity = await tx.collection(identities).get(stored.identityId)
  if (identity === undefined || isDisabled(identity, now)) return { is: 'shut-out' }
  const authPolicy = await tx.collection(authPolicies).get(identity.authPolicyId)
  if (authPolicy === undefined) return { is: 'shut-out' }
  const lost = await basisLost(context, tx, stored, identity, authPolicy, now)
  return lost === undefined ? { is: 'underway', identity, authPolicy } : { is: 'over' }
}

/**
 * What a session still has to prove by what is stored: the signer that an auth policy requires is always missing here,
 * because its token comes with each request.
 */
export async function missingFactors(
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
 * Whether something is missing where no request brings a token, as at a router. The signer that the policy requires is proved
 * by the last request that showed a token of it, or by the login, as long as that token would still do.
 */
export async function isMissingBetweenRequests(
  context: Pick<EngineContext, 'digest' | 'clock'>,
  tx: ReadTransaction,
  apiSession: ApiSession,
  { identity, authPolicy }: { readonly identity: Identity; readonly authPolicy: AuthPolicy },
): Promise<boolean> {
  const { totp, signer } = await missingFactors(tx, apiSession, authPolicy)
  if (totp !== undefined || signer === undefined) return totp !== undefined
  return !provesStill(context, apiSession.signerProof, signer, identity, context.clock.now())
}

/**
 * Whether tokens of a signer prove anything of an identity: not while it is disabled, and nothing of somebody who has rights
 * where a delegate decided whom they are good for.
 */
export function mayProve(signer: RecordOf<typeof externalJwtSigners>, identity: Identity): boolean {
  return signer.enabled && (signer.mayAuthenticateAdmins || !hasRights(identity))
}

/** A caller with what it still has to prove. */
export function withMissing(who: Omit<Caller, 'missing' | 'isFullyAuthenticated'>, missing: MissingFactors): Caller {
  return { ...who, missing, isFullyAuthenticated: missing.totp === undefined && missing.signer === undefined }
}

/** Who holds an API session, and which factors are still to be proved in it. */
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
 * Judges who asks for a write, within it. An anonymous call writes nothing: it redeems a credential first. A caller is judged
 * once more: between the moment when a request was authorized and its
 * write the API session may have ended, or lost its basis, and the identity may hold less than it did. Error:
 * `UNAUTHORIZED`.
 */
export async function requireStanding(
  context: Pick<EngineContext, 'digest' | 'settings'>,
  tx: WriteTransaction,
  call: Call,
  now: number,
): Promise<void> {
  if (call.by === 'anonymous') throw new ControllerError('UNAUTHORIZED')
  if (call.by === 'system') return
  const { apiSession, identity, isFullyAuthenticated } = call.caller
  const session = await tx.collection(apiSessions).get(apiSession.id)
  // What the caller's process remembers of its use may be later than what is stored.
  const lastActivityAt = Math.max(apiSession.lastActivityAt, session?.lastActivityAt ?? 0)
  const standing = session && (await apiSessionStanding(context, tx, { ...session, lastActivityAt }, now))
  if (session === undefined || standing?.is !== 'underway') throw new ControllerError('UNAUTHORIZED')
  const { identity: current } = standing
  const lacksFactor = isFullyAuthenticated && session.isMfaRequired && !session.isMfaComplete
  const isDemoted = isAdministrator(identity) && !isAdministrator(current)
  const lost = identity.permissions.some((permission) => !current.permissions.includes(permission))
  if (lacksFactor || isDemoted || lost) throw new ControllerError('UNAUTHORIZED')
}
