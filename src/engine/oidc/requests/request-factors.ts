import type { RequestLogin } from '../../../domain/oidc/auth-request.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import type { authPolicies } from '../../../resources/login/auth-policies.ts'
import { externalJwtSigners } from '../../../resources/login/external-jwt-signers.ts'
import { mfas } from '../../../resources/login/mfas.ts'
import type { MissingFactors } from '../../context/call.ts'
import { findOne } from '../../records/find-one.ts'

/**
 * What is still to be proved on an auth request after its login: TOTP where the identity has it or its auth policy demands
 * it, and a token of the signer that the policy demands. A signer that is gone or disabled can prove nothing.
 */
export async function missingOfRequest(
  tx: ReadTransaction,
  { identityId, hasPassedTotp, provenSigner }: RequestLogin,
  { secondary }: RecordOf<typeof authPolicies>,
): Promise<MissingFactors> {
  const mfa = hasPassedTotp ? undefined : await findOne(tx, mfas, 'identityId', identityId)
  const isEnrolled = mfa?.isVerified ?? false
  const needsTotp = !hasPassedTotp && (secondary.requireTotp || isEnrolled)
  const wanted = secondary.requireExtJwtSigner
  const signer = wanted && wanted !== provenSigner ? await tx.collection(externalJwtSigners).get(wanted) : undefined
  return { ...(needsTotp && { totp: { isEnrolled } }), ...(signer && { signer }) }
}

/** Reports whether nothing is missing. */
export function isComplete({ totp, signer }: MissingFactors): boolean {
  return totp === undefined && signer === undefined
}
