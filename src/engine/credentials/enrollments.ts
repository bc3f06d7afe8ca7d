import { ids } from '../../domain/filter/index.ts'
import { type Enrollments, enrollments } from '../../resources/enrollment/enrollments.ts'
import { identities } from '../../resources/identities/identities.ts'
import { shownSecrets } from '../authority/invitation-secrets.ts'
import type { Behaviour } from '../records/behaviour.ts'

/** Enrollments show their secrets only to who may invite. */
export const enrollmentBehaviour: Behaviour<Enrollments> = {
  resource: enrollments,

  async members(_context, tx, call, records) {
    const { items } = await tx
      .collection(identities)
      .find({ where: ids(records.flatMap(({ identityId }) => identityId ?? [])) })
    const invited = new Map(items.map((identity) => [identity.id, identity]))
    return records.map((enrollment) =>
      shownSecrets(call, enrollment, invited.get(enrollment.identityId ?? '') ?? 'router'),
    )
  },
}
