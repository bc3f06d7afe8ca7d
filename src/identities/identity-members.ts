import { ids, isIn } from '../../domain/filter/index.ts'
import { isAdministrator, isDisabled } from '../../domain/identity.ts'
import { endOf } from '../../domain/login/api-session-end.ts'
import { instant } from '../../domain/time/instant.ts'
import type { IdentityConnectionStatus, RouterPresence } from '../../ports/router-presence.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { EntityRef } from '../../resources/declaration/fields.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import type { enrollments } from '../../resources/enrollment/enrollments.ts'
import type { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { shownSecrets } from '../authority/invitation-secrets.ts'
import { type Call, isAdminCall, knownCaller } from '../context/call.ts'
import type { EngineContext, IdentityCredentials } from '../context/context.ts'
import { keepText } from '../records/wire-form/json-text.ts'
import { entityRef } from '../records/wire-form/links.ts'
import type { Detail } from '../records/wire-form/render.ts'

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
    const state = {
      disabled: isDisabled(identity, now),
      status: connectionStatus(context, routers, identity),
      hasApiSession: live.has(identity.id),
    }
    // Who has enrolled looks the same to everybody, again and again.
    if (credentials.enrollments.length === 0) return enrolledMembers(credentials, state)
    return membersOf(credentials, state, outstanding(call, identity, credentials, authorities))
  })
}

const NO_CREDENTIALS: IdentityCredentials = { authenticators: {}, enrollments: [], isMfaEnabled: false }

/** What time and connections say of an identity. */
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

/** The members of identities without outstanding enrollments, as long as their credentials are remembered. */
const ENROLLED = new WeakMap<IdentityCredentials, { readonly state: LivingState; readonly members: Detail }>()

function enrolledMembers(credentials: IdentityCredentials, state: LivingState): Detail {
  const known = ENROLLED.get(credentials)
  if (known !== undefined && isSame(known.state, state)) return known.members
  const members = keepText(membersOf(credentials, state, {}))
  ENROLLED.set(credentials, { state, members })
  return members
}

function isSame(one: LivingState, other: LivingState): boolean {
  return one.disabled === other.disabled && one.status === other.status && one.hasApiSession === other.hasApiSession
}

/** The outstanding enrollments of an identity by method, with the secrets that the caller may see. */
function outstanding(
  call: Call,
  identity: RecordOf<typeof identities>,
  { enrollments }: IdentityCredentials,
  authorities: ReadonlyMap<string, EntityRef>,
): Detail {
  // Of an admin it is not even told that there is one.
  if (!isAdminCall(call) && isAdministrator(identity)) return {}
  const shown = enrollments.map((one) => shownEnrollment({ ...one, ...shownSecrets(call, one, identity) }, authorities))
  return Object.fromEntries(shown)
}

/** Those of the identities that have an API session which goes on at `now`; the caller has one. */
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

/** A router's own identity is connected while the router is. */
function connectionStatus(
  { presence }: EngineContext,
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
