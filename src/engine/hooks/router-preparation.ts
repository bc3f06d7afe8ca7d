import type { WriteTransaction } from '../../ports/storage.ts'
import { enrollments } from '../../resources/enrollments.ts'
import type { EngineContext } from '../context/context.ts'
import { type Invitation, inviteToEnroll } from '../enrollment/enrollment-tokens.ts'

/** What comes into being with a router of either kind: no certificate yet, and the enrollment that will give it one. */
export async function prepareRouter(context: EngineContext, invitation: Invitation, now: number) {
  const enrollment = await inviteToEnroll(context, invitation, now)
  return {
    system: {
      certPem: null,
      fingerprint: null,
      isVerified: false,
      unverifiedCertPem: null,
      unverifiedFingerprint: null,
    },
    dependents: (tx: WriteTransaction) => tx.collection(enrollments).insert(enrollment),
  }
}
