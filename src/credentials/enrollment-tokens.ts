import { shownSecrets } from '../authority/invitation-secrets.ts'
import { ControllerError } from '../base/errors.ts'
import type { EngineContext } from '../context/context.ts'
import { type Enrollments, enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour } from '../records/behaviour.ts'
import { newRecord } from '../records/read-records.ts'

type Enrollment = RecordOf<typeof enrollments>

/** The identity or router that an enrollment invites, and the method. */
export type Invitation = Pick<Enrollment, 'method'> &
  Partial<Pick<Enrollment, 'identityId' | 'edgeRouterId' | 'transitRouterId' | 'caId' | 'username'>>

/**
 * Makes an enrollment with a fresh token and its JWT, signed by the TLS server key so that a device can verify it against
 * the server it talks to. `expiresAt` is in epoch milliseconds. Call it before the transaction: signing is slow work.
 */
export async function inviteToEnroll(
  context: EngineContext,
  invitation: Invitation,
  now: number,
  expiresAt = now + durationOf(context, invitation),
): Promise<Enrollment> {
  const token = context.random.uuid()
  const subject = invitation.identityId ?? invitation.edgeRouterId ?? invitation.transitRouterId ?? ''
  const jwt = await context.tokens.sign({
    iss: `https://${context.settings.address}`,
    sub: subject,
    aud: [''],
    jti: token,
    exp: Math.floor(expiresAt / 1000),
    em: invitation.method,
    ...controlClaims(context, invitation),
  })
  return newRecord(context.random.id(), now, {
    identityId: null,
    edgeRouterId: null,
    transitRouterId: null,
    caId: null,
    username: null,
    ...invitation,
    token,
    jwt,
    expiresAt,
  })
}

/** Adds an enrollment. Error: as of {@link refuseInvited}. */
export async function insertInvitation(tx: WriteTransaction, enrollment: Enrollment): Promise<void> {
  await refuseInvited(tx, enrollment)
  await tx.collection(enrollments).insert(enrollment)
}

/** Error: `ENROLLMENT_EXISTS` when the identity of an enrollment is already invited by the same method. */
export async function refuseInvited(tx: ReadTransaction, { identityId, method }: Enrollment): Promise<void> {
  const where = both(equals('identityId', identityId), equals('method', method))
  const { totalCount } = await tx.collection(enrollments).find({ ...(where && { where }), limit: 1 })
  if (totalCount > 0) {
    const reason = 'enrollment of same method exists'
    throw new ControllerError('ENROLLMENT_EXISTS', { field: 'method', reason, value: method })
  }
}

function durationOf({ settings }: EngineContext, { method }: Invitation): number {
  return ROUTER_METHODS.has(method) ? settings.routerEnrollmentDurationMs : settings.enrollmentDurationMs
}

/** Where a router finds the control channel. */
function controlClaims({ dataPlane: { controlAddresses } }: EngineContext, { method }: Invitation) {
  return controlAddresses.length === 0 || !ROUTER_METHODS.has(method) ? {} : { ctrls: controlAddresses }
}

const ROUTER_METHODS: ReadonlySet<string> = new Set(['erott', 'trott'])

/** Enrollments show their secrets only to callers that may invite. */
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
