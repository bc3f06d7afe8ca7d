import { ids, isIn } from '../../domain/filter/index.ts'
import { isAdministrator, isDisabled } from '../../domain/identity.ts'
import { endOf } from '../../domain/login/api-session-end.ts'
import { instant } from '../../domain/time/instant.ts'
import type { RouterPresence } from '../../ports/router-presence.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { EntityRef } from '../../resources/declaration/fields.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { enrollments } from '../../resources/enrollment/enrollments.ts'
import type { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import { mfas } from '../../resources/login/mfas.ts'
import { shownSecrets } from '../authority/invitation-secrets.ts'
import { type Call, isAdminCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
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
  const where = isIn(
    'identityId',
    records.map(({ id }) => id),
  )
  const credentials = groupByIdentity((await tx.collection(authenticators).find({ where })).items)
  const invitations = groupByIdentity((await tx.collection(enrollments).find({ where })).items)
  const authorities = await authoritiesOf(tx, [...invitations.values()].flat())
  const { items: factors } = await tx.collection(mfas).find({ where })
  const enabled = new Set(factors.filter(({ isVerified }) => isVerified).map(({ identityId }) => identityId))
  const live = groupByIdentity((await tx.collection(apiSessions).find({ where })).items)
  const routers = await context.presence.at(tx)
  return records.map((identity) => ({
    authenticators: Object.fromEntries((credentials.get(identity.id) ?? []).map(shownAuthenticator)),
    disabled: isDisabled(identity, now),
    ...connectionMembers(context, routers, identity),
    // Of an admin it is not even told that there is one.
    enrollment:
      isAdminCall(call) || !isAdministrator(identity)
        ? Object.fromEntries(
            (invitations.get(identity.id) ?? []).map((one) =>
              shownEnrollment({ ...one, ...shownSecrets(call, one, identity) }, authorities),
            ),
          )
        : {},
    hasApiSession: (live.get(identity.id) ?? []).some((session) => now < endOf(session, context.settings)),
    interfaces: null,
    isMfaEnabled: enabled.has(identity.id),
  }))
}

/** A router's own identity is connected while the router is. */
function connectionMembers(
  { presence }: EngineContext,
  routers: RouterPresence,
  { id, typeId }: RecordOf<typeof identities>,
) {
  const isOwnRouter = typeId === 'Router' && routers.connectionOf(id) !== undefined
  const status = isOwnRouter ? 'online' : presence.statusOf(id)
  return { edgeRouterConnectionStatus: status, hasEdgeRouterConnection: status === 'online' }
}

function shownAuthenticator(authenticator: RecordOf<typeof authenticators>): readonly [string, Detail] {
  const { id, method, fingerprint, username } = authenticator
  return [method, method === 'cert' ? { fingerprint, id } : { id, username }]
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

function groupByIdentity<T extends { readonly identityId: string | null }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    if (item.identityId === null) continue
    const group = groups.get(item.identityId)
    if (group === undefined) groups.set(item.identityId, [item])
    else group.push(item)
  }
  return groups
}
