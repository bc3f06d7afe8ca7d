import { isIn } from '../../../domain/filter/index.ts'
import { instant } from '../../../domain/instant.ts'
import type { ReadTransaction } from '../../../ports/storage.ts'
import { enrollments } from '../../../resources/enrollments.ts'
import type { Detail } from './render.ts'

/** The outstanding enrollments of routers that are not verified, by router; `field` says of which kind of router. */
export async function routerEnrollmentMembers(
  tx: ReadTransaction,
  field: 'edgeRouterId' | 'transitRouterId',
  routers: readonly { readonly id: string; readonly isVerified: boolean }[],
): Promise<ReadonlyMap<string, Detail>> {
  const unverified = routers.filter(({ isVerified }) => !isVerified).map(({ id }) => id)
  const { items } = await tx.collection(enrollments).find({ where: isIn(field, unverified) })
  const members = items.map(
    (enrollment) =>
      [
        enrollment[field] ?? '',
        {
          enrollmentCreatedAt: instant(enrollment.createdAt),
          enrollmentExpiresAt: instant(enrollment.expiresAt),
          enrollmentJwt: enrollment.jwt,
          enrollmentToken: enrollment.token,
        },
      ] as const,
  )
  return new Map(members)
}
