import { invalidField, notFound } from '../../domain/errors.ts'
import { passwordWeakness } from '../../domain/login/password-rules.ts'
import { identities } from '../../resources/identities/identities.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import type { EngineContext } from '../context/context.ts'

/**
 * The verifier of a new password of an identity, which its auth policy must accept. Slow work: call it before
 * the transaction. Errors: `NOT_FOUND` for the identity, `COULD_NOT_VALIDATE` for the password, which is never echoed.
 */
export async function newPasswordHash(context: EngineContext, identityId: string, password: string): Promise<string> {
  const authPolicy = await context.storage.read(async (tx) => {
    const identity = await tx.collection(identities).get(identityId)
    if (identity === undefined) throw notFound('identity', identityId)
    return tx.collection(authPolicies).get(identity.authPolicyId)
  })
  if (authPolicy === undefined) throw notFound('auth policy', identityId)
  const weakness = passwordWeakness(password, authPolicy.primary.updb)
  if (weakness !== undefined && !context.settings.profile.allowWeakPasswords)
    throw invalidField('password', `password in body ${weakness}`, '')
  return context.passwordHasher.hash(password)
}
