import { shownSecrets } from '../authority/invitation-secrets.ts'
import { invalidField } from '../base/errors.ts'
import { instant } from '../base/time.ts'
import { checkAttachedConfigs } from '../configs/config-map.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'
import { type Invitation, inviteToEnroll } from '../credentials/enrollment-tokens.ts'
import { edgeRouterPolicies } from '../facts/access/policy.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { identities, PLAIN_IDENTITY } from '../facts/identities/identity.resource.ts'
import { type EdgeRouters, edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { type TransitRouters, transitRouters } from '../facts/routers/transit-router.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { isIn } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour, PendingRequest } from '../records/behaviour.ts'
import { deleteBatch } from '../records/deletion.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { refuseTakenName } from '../records/references.ts'
import type { Detail } from '../records/render.ts'
import { MORE, type WriteBatch } from '../records/write-batches.ts'
import { interfacesOf, presenceMembers } from './connections.ts'

type EdgeRouter = RecordOf<EdgeRouters>

const UNKNOWN_VERSION = { arch: '', buildDate: '', os: '', revision: '', version: '' }

/**
 * The particular rules of edge routers: they are created with an enrollment, and a tunneler-enabled router has an
 * identity of its own and a system policy that lets this identity use it.
 */
export const edgeRouterBehaviour: Behaviour<EdgeRouters> = {
  resource: edgeRouters,

  async prepare(context, _call, request) {
    return isToBeInvited(request)
      ? inviteRouter(context, { method: 'erott', edgeRouterId: request.id }, request.now)
      : undefined
  },

  async guard(_context, tx, _call, change) {
    if (change.after !== undefined) {
      if (change.kind === 'create') await refuseTakenIdentity(tx, transitRouters, change.after)
      await refuseTakenName(tx, transitRouters, change.after.name)
      await checkAttachedConfigs(tx, 'router', change.before, change.after)
    }
    if (change.after?.isTunnelerEnabled) await keepTunnelerIdentity(tx, change.after)
    return change.after
  },

  async beforeWrite(tx, { before, after }, batch) {
    if (!before.isTunnelerEnabled || after?.isTunnelerEnabled) return undefined
    return removeTunnelerIdentity(tx, before.id, batch)
  },

  /** Presence and, until a router is verified, its enrollment. */
  async members(context, tx, call, records) {
    const presence = await context.presence.at(tx)
    const outstanding = await outstandingEnrollments(tx, call, 'edgeRouterId', records)
    return records.map(({ id }) => ({
      ...presenceMembers(presence, id),
      interfaces: interfacesOf(presence, id),
      versionInfo: presence.connectionOf(id)?.versionInfo ?? UNKNOWN_VERSION,
      ...outstanding.get(id),
    }))
  },
}

/** A router that is created again with its certificate needs no enrollment. */
function isToBeInvited(request: PendingRequest<EdgeRouters> | PendingRequest<TransitRouters>): boolean {
  return request.kind === 'create' && request.restored?.isVerified !== true
}

/** Refuses a router that is created again with an id or a certificate that a router of the other kind has by now. */
async function refuseTakenIdentity(
  tx: ReadTransaction,
  other: typeof edgeRouters | typeof transitRouters,
  { id, fingerprint }: Pick<RecordOf<TransitRouters>, 'id' | 'fingerprint'>,
): Promise<void> {
  if (fingerprint === null) return
  if ((await tx.collection<{ readonly id: string }>(other).get(id)) !== undefined) {
    throw invalidField('id', 'another router has it', id)
  }
  if ((await findOne(tx, other, 'fingerprint', fingerprint)) !== undefined) {
    throw invalidField('fingerprint', 'another router has this certificate', fingerprint)
  }
}

async function removeTunnelerIdentity(
  tx: WriteTransaction,
  id: string,
  batch: WriteBatch,
): Promise<undefined | typeof MORE> {
  const identity = await whatIsLeft(() => tx.collection(identities).get(id))
  if (identity !== undefined) batch.intend({ operation: 'delete', kind: identities.name, id, before: identity })
  if ((await deleteBatch(tx, identities, id, batch)) === MORE) return MORE
  return (await deleteBatch(tx, edgeRouterPolicies, id, batch)) === MORE ? MORE : undefined
}

async function keepTunnelerIdentity(tx: WriteTransaction, router: EdgeRouter): Promise<void> {
  const { id, name, updatedAt } = router
  const identity = await tx.collection(identities).get(id)
  if (identity !== undefined) {
    if (identity.name !== name) await tx.collection(identities).update({ ...identity, name, updatedAt })
    return
  }
  await tx.collection(identities).insert(newRecord(id, updatedAt, { ...PLAIN_IDENTITY, name, typeId: 'Router' }))
  await tx.collection(edgeRouterPolicies).insert(
    newRecord(id, updatedAt, {
      name: `edge-router-${id}-system`,
      semantic: 'AnyOf',
      edgeRouterRoles: [`@${id}`],
      identityRoles: [`@${id}`],
      isSystem: true,
    }),
  )
}

/** Routers are created with an enrollment, and share their names with edge routers. */
export const transitRouterBehaviour: Behaviour<TransitRouters> = {
  resource: transitRouters,

  async prepare(context, _call, request) {
    return isToBeInvited(request)
      ? inviteRouter(context, { method: 'trott', transitRouterId: request.id }, request.now)
      : undefined
  },

  async guard(_context, tx, _call, { kind, before, after }) {
    if (after === undefined) return after
    if (kind === 'create') await refuseTakenIdentity(tx, edgeRouters, after)
    await refuseTakenName(tx, edgeRouters, after.name)
    await checkAttachedConfigs(tx, 'router', before, after)
    return after
  },

  /** Presence and, until a router is verified, its enrollment. */
  async members(context, tx, call, records) {
    const presence = await context.presence.at(tx)
    const outstanding = await outstandingEnrollments(tx, call, 'transitRouterId', records)
    return records.map(({ id }) => ({
      interfaces: interfacesOf(presence, id),
      isOnline: presence.connectionOf(id) !== undefined,
      ...outstanding.get(id),
    }))
  },
}

/** The outstanding enrollments of unverified routers, by router; `field` names the kind of router. */
async function outstandingEnrollments(
  tx: ReadTransaction,
  call: Call,
  field: 'edgeRouterId' | 'transitRouterId',
  routers: readonly { readonly id: string; readonly isVerified: boolean }[],
): Promise<ReadonlyMap<string, Detail>> {
  const unverified = routers.filter(({ isVerified }) => !isVerified).map(({ id }) => id)
  const { items } = await tx.collection(enrollments).find({ where: isIn(field, unverified) })
  const members = items.map((enrollment) => {
    const { jwt, token } = shownSecrets(call, enrollment, 'router')
    const outstanding = {
      enrollmentCreatedAt: instant(enrollment.createdAt),
      enrollmentExpiresAt: instant(enrollment.expiresAt),
      enrollmentJwt: jwt,
      enrollmentToken: token,
    }
    return [enrollment[field] ?? '', outstanding] as const
  })
  return new Map(members)
}

/** Makes the enrollment that will give a new router of either kind its certificate. */
async function inviteRouter(context: EngineContext, invitation: Invitation, now: number) {
  const enrollment = await inviteToEnroll(context, invitation, now)
  return { dependents: (tx: WriteTransaction) => tx.collection(enrollments).insert(enrollment) }
}
