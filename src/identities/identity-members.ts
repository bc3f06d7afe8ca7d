import { isAdministrator, isDisabled } from '../authority/authority.rules.ts'
import { shownSecrets } from '../authority/invitation-secrets.ts'
import { instant } from '../base/time.ts'
import { endOf } from '../credentials/login-basis.rules.ts'
import { cas } from '../enrollment/ca.resource.ts'
import type { enrollments } from '../enrollment/enrollment.resource.ts'
import { type Call, isAdminCall, knownCaller } from '../kernel/context/call.ts'
import type { EngineContext, IdentityCredentials } from '../kernel/context/context.ts'
import type { EntityRef } from '../kernel/declaration/fields.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { ids, isIn } from '../kernel/filter/index.ts'
import { type Detail, entityRef } from '../kernel/records/render.ts'
import { apiSessions } from '../login/api-session.resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { IdentityConnectionStatus, RouterPresence } from '../ports/router-presence.ts'
import type { identities } from './identity.resource.ts'

/** The ports that computed members of identities take. */
type IdentityMemberPorts = Pick<EngineContext, 'clock' | 'credentials' | 'presence' | 'settings' | 'texts'>

/** Credentials, outstanding enrollments and liveness of identities. */
export async function identityMembers(
  context: IdentityMemberPorts,
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
    const state = {
      disabled: isDisabled(identity, now),
      status: connectionStatus(context, routers, identity),
      hasApiSession: live.has(identity.id),
    }
    // An identity that has enrolled looks the same to everybody, again and again.
    if (credentials.enrollments.length === 0) return enrolledMembers(context, credentials, state)
    return membersOf(credentials, state, outstanding(call, identity, credentials, authorities))
  })
}

const NO_CREDENTIALS: IdentityCredentials = { authenticators: {}, enrollments: [], isMfaEnabled: false }

/** The state of an identity that follows from time and connections. */
interface LivingState {
  readonly disabled: boolean
  readonly status: IdentityConnectionStatus
  readonly hasApiSession: boolean
}

function membersOf(
  { authenticators, isMfaEnabled }: IdentityCredentials,
  { disabled, status, hasApiSession }: LivingState,
  enrollment: Detail,
): Detail {
  return {
    authenticators,
    disabled,
    edgeRouterConnectionStatus: status,
    hasEdgeRouterConnection: status === 'online',
    enrollment,
    hasApiSession,
    interfaces: null,
    isMfaEnabled,
  }
}

/** The members of an identity without outstanding enrollments. */
function enrolledMembers(
  { texts }: Pick<EngineContext, 'texts'>,
  credentials: IdentityCredentials,
  state: LivingState,
): Detail {
  const sources = [state.disabled, state.status, state.hasApiSession]
  return texts.made('enrolled', credentials, () => texts.keep(membersOf(credentials, state, {})), sources)
}

/** The outstanding enrollments of an identity by method, with the secrets that the caller may see. */
function outstanding(
  call: Call,
  identity: RecordOf<typeof identities>,
  { enrollments }: IdentityCredentials,
  authorities: ReadonlyMap<string, EntityRef>,
): Detail {
  // Not even the existence of an admin is shown.
  if (!isAdminCall(call) && isAdministrator(identity)) return {}
  const shown = enrollments.map((one) => shownEnrollment({ ...one, ...shownSecrets(call, one, identity) }, authorities))
  return Object.fromEntries(shown)
}

/** Those of the identities that have an API session which goes on at `now`; the caller has one. */
async function identitiesWithSession(
  { settings }: Pick<EngineContext, 'settings'>,
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

/** A router's own identity is connected while the router is. */
function connectionStatus(
  { presence }: Pick<EngineContext, 'presence'>,
  routers: RouterPresence,
  { id, typeId }: RecordOf<typeof identities>,
): IdentityConnectionStatus {
  const isOwnRouter = typeId === 'Router' && routers.connectionOf(id) !== undefined
  return isOwnRouter ? 'online' : presence.statusOf(id)
}

async function authoritiesOf(
  tx: ReadTransaction,
  invitations: readonly RecordOf<typeof enrollments>[],
): Promise<ReadonlyMap<string, EntityRef>> {
  const wanted = invitations.flatMap(({ caId }) => caId ?? [])
  if (wanted.length === 0) return new Map()
  const { items } = await tx.collection(cas).find({ where: ids(wanted) })
  return new Map(items.map((ca) => [ca.id, entityRef(cas, ca)]))
}

function shownEnrollment(
  enrollment: RecordOf<typeof enrollments>,
  authorities: ReadonlyMap<string, EntityRef>,
): readonly [string, Detail] {
  const { id, method, token, jwt, expiresAt, caId } = enrollment
  const outstanding = { expiresAt: instant(expiresAt), id, jwt, token }
  return [method, method === 'ottca' ? { ...outstanding, ca: authorities.get(caId ?? '') ?? null, caId } : outstanding]
}
