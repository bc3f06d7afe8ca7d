import { ControllerError } from '../../domain/errors.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { identities } from '../../resources/identities/identities.ts'
import type { apiSessions } from '../../resources/login/api-sessions.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import type { Caller } from '../context/call.ts'
import { missingFactors, withMissing } from '../credentials/missing-factors.ts'

/** Who holds an API session, and which factors are still to be proved in it. Error: `UNAUTHORIZED` without auth policy. */
export async function callerOfSession(
  tx: ReadTransaction,
  apiSession: RecordOf<typeof apiSessions>,
  identity: RecordOf<typeof identities>,
  token: string,
): Promise<Caller> {
  const authPolicy = await tx.collection(authPolicies).get(identity.authPolicyId)
  if (authPolicy === undefined) throw new ControllerError('UNAUTHORIZED')
  const missing = await missingFactors(tx, apiSession, authPolicy)
  return withMissing({ apiSession, identity, authPolicy, token }, missing)
}
