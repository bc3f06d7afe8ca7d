import { mayInvite, NO_SECRETS } from '../authority/invitation-secrets.ts'
import { instant } from '../base/time.ts'
import { type Call, isAdminCall, knownCaller } from '../context/call.ts'
import type { EngineContext, IdentityCredentials } from '../context/context.ts'
import { connectionStatus } from '../entities/identity-states.ts'
import { isAdministrator, isDisabled } from '../facts/authority/authority.rules.ts'
import { endOf } from '../facts/credentials/login-basis.rules.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import type { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import type { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids, isIn } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { IdentityConnectionStatus } from '../ports/router-presence.ts'
import { type Detail, entityRef } from '../records/render.ts'

/** Credentials, outstanding enrollments and liveness of identities. */
export async function identityMembers(
  context: EngineContext,
  tx: ReadTransaction,
  call: Call,
  records: readonly RecordOf<typeof identities>[],
): Promise<readonly Detail[]> {
  const now = context.clock.now()
  const identityIds = records.map(({ id }) => id)
  const known = await context.credentials.of(tx, identityIds)
  const authorities = await authoritiesOf(
    tx,
    [...known.values()].flatMap(({ enrollments }) => enrollments),
  )
  const live = await identitiesWithSession(context, tx, call, identityIds, now)
  const routers = await context.presence.at(tx)
  return records.map((identity) => {
    const credentials = known.get(identity.id) ?? NO_CREDENTIALS
    return keptMembers(context, credentials, {
      disabled: isDisabled(identity, now),
      status: connectionStatus(context.presence, routers, identity),
      hasApiSession: live.has(identity.id),
      ...(credentials.enrollments.length === 0 ? ENROLLED : invitationView(call, identity)),
      authorities: credentials.enrollments.map(({ caId }) => authorities.get(caId ?? '')),
    })
  })
}

const NO_CREDENTIALS: IdentityCredentials = { authenticators: {}, enrollments: [], isMfaEnabled: false }

/** The part of an invitation that a caller sees: its outstanding enrollments, with their tokens or without them. */
interface InvitationView {
  readonly showsEnrollments: boolean
  readonly showsSecrets: boolean
}

/** The state of an identity that follows from time, connections, the caller and other entities. */
interface LivingState extends InvitationView {
  readonly disabled: boolean
  readonly status: IdentityConnectionStatus
  readonly hasApiSession: boolean
  /** The authorities that its enrollments require, one by one. */
  readonly authorities: readonly (RecordOf<typeof cas> | undefined)[]
}

const ENROLLED: InvitationView = { showsEnrollments: false, showsSecrets: false }

/** The members of an identity: the same object while their contents stay the same. Callers with equal rights share it. */
function keptMembers({ texts }: EngineContext, credentials: IdentityCredentials, state: LivingState): Detail {
  const { disabled, status, hasApiSession, showsEnrollments, showsSecrets, authorities } = state
  const { authenticators, isMfaEnabled } = credentials
  const members = () =>
    texts.keep({
      authenticators,
      disabled,
      edgeRouterConnectionStatus: status,
      hasEdgeRouterConnection: status === 'online',
      enrollment: showsEnrollments ? outstanding(credentials, state) : {},
      hasApiSession,
      interfaces: null,
      isMfaEnabled,
    })
  const sources = [disabled, status, hasApiSession, showsEnrollments, showsSecrets, ...authorities]
  return texts.made('credentials', credentials, members, sources)
}

function invitationView(call: Call, identity: RecordOf<typeof identities>): InvitationView {
  // Only admins see that an admin has enrollments.
  const showsEnrollments = isAdminCall(call) || !isAdministrator(identity)
  return { showsEnrollments, showsSecrets: mayInvite(call, identity) }
}

/** The outstanding enrollments of an identity by method, with the secrets that the caller may see. */
function outstanding({ enrollments }: IdentityCredentials, { showsSecrets, authorities }: LivingState): Detail {
  const shown = enrollments.map((one, at) => {
    const { id, method, expiresAt, caId, ...secrets } = one
    const { jwt, token } = showsSecrets ? secrets : NO_SECRETS
    const authority = authorities[at]
    const ca = authority === undefined ? null : entityRef(cas, authority)
    const members = { expiresAt: instant(expiresAt), id, jwt, token }
    return [method, method === 'ottca' ? { ...members, ca, caId } : members]
  })
  return Object.fromEntries(shown)
}

/** The identities with an API session that goes on at `now`; the caller has one. */
async function identitiesWithSession(
  { settings }: EngineContext,
  tx: ReadTransaction,
  call: Call,
  identityIds: readonly string[],
  now: number,
): Promise<ReadonlySet<string | null>> {
  const own = knownCaller(call)?.identity.id
  const others = identityIds.filter((id) => id !== own)
  if (others.length === 0) return new Set([own ?? null])
  const { items } = await tx.collection(apiSessions).find({ where: isIn('identityId', others) })
  const live = items.filter((session) => now < endOf(session, settings)).map(({ identityId }) => identityId)
  return new Set([own ?? null, ...live])
}

async function authoritiesOf(
  tx: ReadTransaction,
  invitations: readonly RecordOf<typeof enrollments>[],
): Promise<ReadonlyMap<string, RecordOf<typeof cas>>> {
  const wanted = invitations.flatMap(({ caId }) => caId ?? [])
  if (wanted.length === 0) return new Map()
  const { items } = await tx.collection(cas).find({ where: ids(wanted) })
  return new Map(items.map((ca) => [ca.id, ca]))
}
