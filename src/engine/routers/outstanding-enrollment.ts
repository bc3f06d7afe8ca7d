import { isIn } from '../../domain/filter/index.ts'
import { instant } from '../../domain/time/instant.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/storage.ts'
import { enrollments } from '../../resources/enrollment/enrollments.ts'
import { shownSecrets } from '../authority/invitation-secrets.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { type Invitation, inviteToEnroll } from '../credentials/enrollment-tokens.ts'
import type { Detail } from '../records/wire-form/render.ts'

/** The outstanding enrollments of routers that are not verified, by router; `field` says of which kind of router. */
export async function outstandingEnrollments(
  tx: ReadTransaction,
  call: Call,
  field: 'edgeRouterId' | 'transitRouterId',
  routers: readonly { readonly id: string; readonly isVerified: boolean }[],
): Promise<ReadonlyMap<string, Detail>> {
  const unverified = routers.filter(({ isVerified }) => !isVerified).map(({ id }) => id)
  const { items } = await tx.collection(enrollments).find({ where: isIn(field, unverified) })
  const members = items.map((enrollment) => {
    const { jwt, token } = shownSecrets(call, enrollment, 'router')
    const outstanding = {
      enrollmentCreatedAt: instant(enrollment.createdAt),
      enrollmentExpiresAt: instant(enrollment.expiresAt),
      enrollmentJwt: jwt,
      enrollmentToken: token,
    }
    return [enrollment[field] ?? '', outstanding] as const
  })
  return new Map(members)
}

/** What comes into being with a router of either kind: the enrollment that will give it a certificate. */
export async function inviteRouter(context: EngineContext, invitation: Invitation, now: number) {
  const enrollment = await inviteToEnroll(context, invitation, now)
  return { dependents: (tx: WriteTransaction) => tx.collection(enrollments).insert(enrollment) }
}
