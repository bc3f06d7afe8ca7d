import { isIn } from '../../domain/filter/index.ts'
import { isDisabled } from '../../domain/identity.ts'
import { instant } from '../../domain/instant.ts'
import { apiSessions } from '../../resources/api-sessions.ts'
import { authenticators } from '../../resources/authenticators.ts'
import { enrollments } from '../../resources/enrollments.ts'
import type { identities } from '../../resources/identities.ts'
import type { RecordOf } from '../../resources/resource.ts'
import type { DeriveMembers, Detail } from './render.ts'

/** Credentials, outstanding enrollments and liveness of identities (interface: Identity). */
export const identityMembers: DeriveMembers<typeof identities> = async (context, tx, _call, records) => {
  const now = context.clock.now()
  const where = isIn(
    'identityId',
    records.map(({ id }) => id),
  )
  const credentials = groupByIdentity((await tx.collection(authenticators).find({ where })).items)
  const invitations = groupByIdentity((await tx.collection(enrollments).find({ where })).items)
  const live = groupByIdentity((await tx.collection(apiSessions).find({ where })).items)
  return records.map((identity) => ({
    authenticators: Object.fromEntries((credentials.get(identity.id) ?? []).map(shownAuthenticator)),
    disabled: isDisabled(identity, now),
    edgeRouterConnectionStatus: 'offline',
    enrollment: Object.fromEntries((invitations.get(identity.id) ?? []).map(shownEnrollment)),
    hasApiSession: (live.get(identity.id) ?? []).some(
      ({ lastActivityAt }) => now - lastActivityAt < context.settings.apiSessionTimeoutMs,
    ),
    hasEdgeRouterConnection: false,
    interfaces: null,
    isMfaEnabled: false,
  }))
}

function shownAuthenticator(authenticator: RecordOf<typeof authenticators>): readonly [string, Detail] {
  const { id, method, fingerprint, username } = authenticator
  return [method, method === 'cert' ? { fingerprint, id } : { id, username }]
}

function shownEnrollment(enrollment: RecordOf<typeof enrollments>): readonly [string, Detail] {
  const { id, method, token, jwt, expiresAt, caId } = enrollment
  const outstanding = { expiresAt: instant(expiresAt), id, jwt, token }
  return [method, method === 'ottca' ? { ...outstanding, ca: null, caId } : outstanding]
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
