import { knownInvitations } from '../authority/invitation-secrets.ts'
import { ControllerError, invalidField, notFound } from '../base/errors.ts'
import { instantText } from '../base/time.ts'
import { type Call, isAdminCall, knownCaller } from '../context/call.ts'
import { type Invitation, inviteToEnroll } from '../credentials/enrollment-tokens.ts'
import { endApiSessions, endLoginsUnderWay } from '../credentials/login-basis.ts'
import {
  covers,
  coversToTheEnd,
  givesRights,
  grantFields,
  hasRights,
  isAdministrator,
  isLater,
} from '../facts/authority/authority.rules.ts'
import { authenticatorIdOfSigner, NO_AUTHENTICATOR } from '../facts/credentials/login-basis.rules.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { type Identities, identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals, type Filter } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import type { Behaviour, PendingChange } from '../records/behaviour.ts'
import { deleteEach } from '../records/deletion.ts'
import { missingOf } from '../records/references.ts'
import { MORE } from '../records/write-batches.ts'
import { identityMembers } from './identity-members.ts'

type Identity = RecordOf<typeof identities>

/**
 * The particular rules of identities: an enrollment is created with them, the default admin and the identities of
 * routers are protected, and only an admin makes, changes or deletes admins.
 */
export const identityBehaviour: Behaviour<Identities> = {
  resource: identities,

  async prepare(context, _call, request) {
    if (request.kind !== 'create') return undefined
    const { id, input, now } = request
    const invitation = invitationOf(id, input.enrollment)
    const enrollment = invitation && (await inviteToEnroll(context, invitation, now))
    return {
      dependents: async (tx) => {
        if (enrollment !== undefined) await insertEnrollment(tx, enrollment)
      },
    }
  },

  async guard({ settings }, tx, call, change) {
    if (!isAdminCall(call)) refuseEscalation(change)
    if (change.kind === 'delete') {
      await refuseDeletion(tx, change.before)
      if (!settings.profile.allowSelfDeletion) refuseSelfDeletion(call, change.before)
      return undefined
    }
    const externalId = change.after.externalId?.trim() === '' ? null : change.after.externalId
    const typeId = settings.profile.knowsDefaultTypeAlone ? deployedTypeOf(change) : change.after.typeId
    const rightsUntil = rightsUntilOf(call, change)
    const authPolicyId = change.after.authPolicyId === '' ? 'default' : change.after.authPolicyId
    if (change.kind === 'update') {
      refuseRouterIdentityChange(change.before, change.after)
    }
    await checkHostedServices(tx, change)
    // An undo may restore an identity after grants of it have ended.
    const grants = change.kind === 'create' ? grantFields(change.after.attributeGrants, change.after.updatedAt) : {}
    return { ...change.after, ...grants, externalId, authPolicyId, typeId, rightsUntil }
  },

  /**
   * An identity that gains rights loses the API sessions for which a third party vouched: the next login asks whether
   * that party is trusted to authenticate an identity with these rights. It also loses the enrollments whose tokens a
   * delegate without these rights, or a former one, may know.
   */
  async beforeWrite(tx, { kind, before, after }, part) {
    if (kind === 'delete') return undefined
    // An undo may disable an identity again that was enabled.
    if (before.disabledAt === null && after.disabledAt !== null) {
      await endLoginsUnderWay(tx, after.id)
      if ((await endApiSessions(tx, 'identityId', after.id, part)) === MORE) return MORE
    }
    if (coversToTheEnd(before, after)) return undefined
    const vouchedFor = vouchedForBySomebodyElse(after.id)
    const rest = covers(before, after) ? undefined : await deleteEach(tx, apiSessions, vouchedFor, part)
    if (rest !== undefined) return rest
    const known = await knownInvitations(tx, before, after)
    return known && deleteEach(tx, enrollments, known, part)
  },

  members: identityMembers,
}

/** Deployed controllers have one type for everything that connects. Identities of routers say so themselves. */
function deployedTypeOf({ kind, after }: Exclude<PendingChange<Identities>, { readonly kind: 'delete' }>) {
  return kind === 'update' && after.typeId === 'Router' ? 'Router' : 'Default'
}

function invitationOf(
  identityId: string,
  wanted: { ott?: boolean | undefined; ottca?: string | undefined; updb?: string | undefined } | undefined,
): Invitation | undefined {
  if (wanted?.ott) return { method: 'ott', identityId }
  if (wanted?.ottca) return { method: 'ottca', identityId, caId: wanted.ottca }
  if (wanted?.updb) return { method: 'updb', identityId, username: wanted.updb }
  return undefined
}

async function insertEnrollment(tx: WriteTransaction, enrollment: RecordOf<typeof enrollments>): Promise<void> {
  const { caId } = enrollment
  if (caId !== null && (await tx.collection(cas).get(caId)) === undefined) {
    throw new ControllerError('NOT_FOUND', { field: 'caId', reason: 'ca not found', value: caId })
  }
  await tx.collection(enrollments).insert(enrollment)
}

function refuseEscalation(change: PendingChange<typeof identities>): void {
  const refuse = (message: string) => new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
  if (change.kind === 'create') {
    if (change.after.permissions.length > 0) throw refuse('non-admins may not create users with permissions')
    if (change.after.isAdmin) throw refuse('non-admins may not create admin users')
    return
  }
  if (isAdministrator(change.before)) {
    throw refuse(`non-admins may not ${change.kind === 'delete' ? 'delete' : 'modify'} admin identities`)
  }
  if (change.kind === 'delete') return
  if (change.after.isAdmin) throw refuse('non-admins may not modify the identity field isAdmin')
  if (change.after.permissions.join() !== change.before.permissions.join()) {
    throw refuse('non-admins may not modify the identity field permissions')
  }
  if (change.after.rightsUntil !== change.before.rightsUntil) {
    throw refuse('non-admins may not modify the identity field rightsUntil')
  }
}

/**
 * The instant at which the rights of an identity end. Rights that have ended take their instant along. A caller whose rights
 * end gives no lasting rights.
 */
function rightsUntilOf(call: Call, { before, after }: Exclude<PendingChange<Identities>, { readonly kind: 'delete' }>) {
  const { rightsUntil } = after
  const shown = rightsUntil === null ? '' : instantText(rightsUntil)
  const isNew = rightsUntil !== null && rightsUntil !== before?.rightsUntil
  if (isNew && rightsUntil <= after.updatedAt)
    throw invalidField('rightsUntil', 'rightsUntil must be in the future', shown)
  if (isNew && after.isDefaultAdmin) throw invalidField('rightsUntil', 'the default admin keeps its rights', shown)
  if (isNew && !hasRights(after)) {
    throw invalidField('rightsUntil', 'rightsUntil is for an identity with isAdmin or permissions', shown)
  }
  const own = knownCaller(call)?.identity.rightsUntil ?? null
  if (givesRights(before, after) && isLater(rightsUntil, own)) {
    const message = 'an identity whose rights end may not give rights that last longer'
    throw new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
  }
  return hasRights(after) ? rightsUntil : null
}

async function refuseDeletion(tx: WriteTransaction, identity: Identity): Promise<void> {
  const refuse = (message: string) => new ControllerError('ENTITY_CAN_NOT_BE_DELETED', { code: 'UNHANDLED', message })
  if (identity.isDefaultAdmin) throw refuse('the default admin cannot be deleted')
  if (identity.typeId === 'Router' && (await tx.collection(edgeRouters).get(identity.id)) !== undefined) {
    throw refuse(`cannot delete router identity ${identity.name} until associated router is deleted`)
  }
}

/** The caller's own sessions would end first, and only the caller could undo the deletion. */
function refuseSelfDeletion(call: Call, { id }: Identity): void {
  if (knownCaller(call)?.identity.id !== id) return
  const details = { code: 'UNHANDLED', message: 'an identity cannot delete itself' } as const
  throw new ControllerError('CAN_NOT_DELETE_REFERENCED_ENTITY', details)
}

function refuseRouterIdentityChange(before: Identity, after: Identity): void {
  if (before.typeId !== 'Router' && after.typeId === 'Router') {
    throw invalidField('typeId', 'may not change type to router', after.typeId)
  }
  if (before.typeId !== 'Router') return
  if (after.typeId !== 'Router') throw invalidField('typeId', 'may not change type of router identities', after.typeId)
  if (after.name !== before.name) throw invalidField('name', 'may not change name of router identities', after.name)
}

async function checkHostedServices(tx: WriteTransaction, { before, after }: PendingChange<Identities>): Promise<void> {
  const known = new Set(before && hostedBy(before))
  const named = (after === undefined ? [] : hostedBy(after)).filter((id) => !known.has(id))
  for (const id of (await missingOf(tx, services, named)).slice(0, 1)) throw notFound('service', id)
}

function hostedBy({ serviceHostingCosts, serviceHostingPrecedences }: Identity): readonly string[] {
  return Object.keys({ ...serviceHostingCosts, ...serviceHostingPrecedences })
}

function vouchedForBySomebodyElse(identityId: string): Filter {
  const operand = { kind: 'field', field: 'authenticatorId' } as const
  const isOfSigner: Filter = { kind: 'contains', operand, text: authenticatorIdOfSigner(''), foldCase: false }
  const isStandIn: Filter = { kind: 'or', left: equals('authenticatorId', NO_AUTHENTICATOR), right: isOfSigner }
  const isAnchored: Filter = { kind: 'not', of: equals('trustAnchorId', null) }
  const right: Filter = { kind: 'or', left: isAnchored, right: isStandIn }
  return { kind: 'and', left: equals('identityId', identityId), right }
}
