import { notFound } from '../../domain/errors.ts'
import { equals } from '../../domain/filter/index.ts'
import { enrollments } from '../../resources/enrollment/enrollments.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { inviteToEnroll } from '../credentials/enrollment-tokens.ts'

/**
 * Takes the certificate from an edge router and invites it to enroll anew: a connected one is refused until it has, and an
 * outstanding token is replaced. Error: `NOT_FOUND`.
 */
export async function reEnrollEdgeRouter(context: EngineContext, call: Call, id: string): Promise<void> {
  const now = context.clock.now()
  const enrollment = await inviteToEnroll(context, { method: 'erott', edgeRouterId: id }, now)
  await context.writes.run(call, async (tx) => {
    const router = await tx.collection(edgeRouters).get(id)
    if (router === undefined) throw notFound('edge router', id)
    const { items } = await tx.collection(enrollments).find({ where: equals('edgeRouterId', id) })
    for (const outstanding of items) await tx.collection(enrollments).delete(outstanding.id)
    await tx.collection(enrollments).insert(enrollment)
    const unverified = { certPem: null, fingerprint: null, unverifiedCertPem: null, unverifiedFingerprint: null }
    await tx.collection(edgeRouters).update({ ...router, ...unverified, isVerified: false, updatedAt: now })
  })
}
