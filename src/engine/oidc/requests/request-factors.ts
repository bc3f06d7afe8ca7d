import type { RequestLogin } from '../../../domain/oidc/auth-request.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { identities } from '../../../resources/identities/identities.ts'
import type { authPolicies } from '../../../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../../../resources/login/external-jwt-signers.ts'
import { mfas } from '../../../resources/login/mfas.ts'
import type { MissingFactors } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { provesStill } from '../../credentials/login-basis.ts'
import { findOne } from '../../records/find-one.ts'

/**
 * What is still to be proved on an auth request after its login: TOTP where the identity has it or its auth policy demands
 * it, and a token of the signer that the policy demands, which counts for as long as the signer names the identity so.
 */
export async function missingOfRequest(
  context: Pick<EngineContext, 'digest' | 'clock'>,
  tx: ReadTransaction,
  { identityId, hasPassedTotp, provenSigner }: RequestLogin,
  { secondary }: RecordOf<typeof authPolicies>,
): Promise<MissingFactors> {
  const mfa = hasPassedTotp ? undefined : await findOne(tx, mfas, 'identityId', identityId)
  const isEnrolled = mfa?.isVerified ?? false
  const needsTotp = !hasPassedTotp && (secondary.requireTotp || isEnrolled)
  const wanted = secondary.requireExtJwtSigner
  const required = wanted ? await tx.collection(externalJwtSigners).get(wanted) : undefined
  const identity = required && (await tx.collection(identities).get(identityId))
  const now = context.clock.now()
  const isProven = required && identity && provesStill(context, provenSigner, required, identity, now)
  const signer = isProven ? undefined : required
  return { ...(needsTotp && { totp: { isEnrolled } }), ...(signer && { signer }) }
}

/** Reports whether nothing is missing. */
export function isComplete({ totp, signer }: MissingFactors): boolean {
  return totp === undefined && signer === undefined
}
