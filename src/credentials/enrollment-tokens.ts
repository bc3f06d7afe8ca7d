import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { enrollments } from '../../resources/enrollment/enrollments.ts'
import type { EngineContext } from '../context/context.ts'
import { newRecord } from '../records/new-record.ts'

type Enrollment = RecordOf<typeof enrollments>

/** Whom an enrollment invites, and how. */
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

function durationOf({ settings }: EngineContext, { method }: Invitation): number {
  return ROUTER_METHODS.has(method) ? settings.routerEnrollmentDurationMs : settings.enrollmentDurationMs
}

/** Where a router finds the control channel. */
function controlClaims({ dataPlane: { controlAddresses } }: EngineContext, { method }: Invitation) {
  return controlAddresses.length === 0 || !ROUTER_METHODS.has(method) ? {} : { ctrls: controlAddresses }
}

const ROUTER_METHODS: ReadonlySet<string> = new Set(['erott', 'trott'])
