import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { apiSessions } from '../../resources/login/api-sessions.ts'
import type { authPolicies } from '../../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { mfas } from '../../resources/login/mfas.ts'
import type { Caller, MissingFactors } from '../context/call.ts'
import { findOne } from '../records/find-one.ts'

/**
 * What a session still has to prove by what is stored: the signer that an auth policy requires is always missing here,
 * because its token comes with each request.
 */
export async function missingFactors(
  tx: ReadTransaction,
  apiSession: RecordOf<typeof apiSessions>,
  { secondary }: RecordOf<typeof authPolicies>,
): Promise<MissingFactors> {
  const needsTotp = (apiSession.isMfaRequired || secondary.requireTotp) && !apiSession.isMfaComplete
  const mfa = needsTotp ? await findOne(tx, mfas, 'identityId', apiSession.identityId) : undefined
  const signer = secondary.requireExtJwtSigner
    ? await tx.collection(externalJwtSigners).get(secondary.requireExtJwtSigner)
    : undefined
  return { ...(needsTotp && { totp: { isEnrolled: mfa?.isVerified ?? false } }), ...(signer && { signer }) }
}

/** A caller with what it still has to prove. */
export function withMissing(who: Omit<Caller, 'missing' | 'isFullyAuthenticated'>, missing: MissingFactors): Caller {
  return { ...who, missing, isFullyAuthenticated: missing.totp === undefined && missing.signer === undefined }
}
