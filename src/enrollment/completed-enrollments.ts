import { authenticators } from '../credentials/authenticator.resource.ts'
import { changesTo, type RecordedChange } from '../kernel/context/recorded-changes.ts'
import { edgeRouters } from '../routers/edge-router.resource.ts'
import { enrollments } from './enrollment.resource.ts'

/** An enrollment that gave its identity, or its router, a credential. */
export interface CompletedEnrollment {
  readonly enrollmentId: string
  readonly method: string
  readonly identityId: string | undefined
  readonly edgeRouterId: string | undefined
}

/** An enrollment is completed by the write that consumes it and gives its identity, or its router, a credential. */
export function completedEnrollments(changes: readonly RecordedChange[]): readonly CompletedEnrollment[] {
  const credited = changesTo(changes, authenticators).flatMap(({ operation, after }) =>
    operation === 'insert' && after !== undefined ? [after.identityId] : [],
  )
  const verified = changesTo(changes, edgeRouters).flatMap(({ after }) => (after?.isVerified ? [after.id] : []))
  return changesTo(changes, enrollments).flatMap(({ operation, before }) => {
    if (operation !== 'delete' || before === undefined) return []
    const { id: enrollmentId, method, identityId, edgeRouterId } = before
    const isCompleted =
      (identityId !== null && credited.includes(identityId)) ||
      (edgeRouterId !== null && verified.includes(edgeRouterId))
    const whose = { identityId: identityId ?? undefined, edgeRouterId: edgeRouterId ?? undefined }
    return isCompleted ? [{ enrollmentId, method, ...whose }] : []
  })
}
