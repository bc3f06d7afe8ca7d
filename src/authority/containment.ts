import { ControllerError } from '../base/errors.ts'
import { type Call, type CallerCall, isAdminCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { coversToTheEnd, isAdministrator } from '../facts/authority/authority.rules.ts'
import { serviceConfigs } from '../facts/configs/config.resource.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { both, equals } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import {
  identitiesBehindCa,
  identitiesBehindPolicy,
  identitiesBehindSigner,
  isSame,
  privilegedIdentities,
} from './trust.ts'

type Identity = RecordOf<typeof identities>
type Changes = RecordedWrite['changes']

/** Records that belong to one identity: a change of them gives that identity a way to log in, or removes one. */
const BELONGING = [authenticators, enrollments, mfas, serviceConfigs] as const

/** Fields that an identity may not change of itself: it would gain rights, or have to prove less. */
const NOT_OF_ONESELF = [
  'isAdmin',
  'permissions',
  'roleAttributes',
  'attributeGrants',
  'authPolicyId',
  'externalId',
] as const
/** The same where the host has a directory, which may know persons by name. */
const NOT_OF_A_PERSON = [...NOT_OF_ONESELF, 'name'] as const

/**
 * The rule of containment. It judges the changes of a write and not the operation. A caller grants no right that it does not hold. It
 * changes no credential or enrollment of an identity with rights that the caller lacks, or that last longer than the rights of the caller.
 * Administrators hold every right. Error: `UNAUTHORIZED`; nothing is written then.
 */
export async function containRights(
  { host }: EngineContext,
  tx: ReadTransaction,
  { call, changes }: RecordedWrite,
): Promise<void> {
  if (call.by !== 'caller' || isAdminCall(call)) return
  const { identity: caller } = call.caller
  const refused = host.directory === undefined ? NOT_OF_ONESELF : NOT_OF_A_PERSON
  for (const { before, after } of changesTo(changes, identities)) judgeIdentity(call, before, after, refused)
  for (const concerned of await identitiesConcerned(tx, changes)) {
    if (concerned.id !== caller.id) requireCovered(call, concerned)
  }
}

/** Refuses a caller that would change an identity with rights that the caller lacks. Error: `UNAUTHORIZED`. */
export function requireCovered(call: Call, identity: Identity): void {
  if (isAdminCall(call) || (call.by === 'caller' && coversToTheEnd(call.caller.identity, identity))) return
  throw refusal(`${identity.name} has rights that the caller lacks`)
}

/**
 * Refuses a caller without admin rights that would change an admin, by name and before the write. {@link containRights}
 * would refuse it as well, by the changes of the write, and so would {@link requireCovered}. Error: `UNAUTHORIZED`.
 */
export function refuseAdminChange(call: Call, identity: Identity): void {
  if (isAdminCall(call) || !isAdministrator(identity)) return
  throw refusal('non-admins may not modify admin identities')
}

function judgeIdentity(
  call: CallerCall,
  before: Identity | undefined,
  after: Identity | undefined,
  notOfOneself: readonly (keyof Identity)[],
): void {
  if (before?.id === call.caller.identity.id) {
    const changed = after && notOfOneself.find((field) => !isSame(before, after, [field]))
    if (changed !== undefined) throw refusal(`an identity may not change its own ${changed}`)
    return
  }
  for (const identity of [before, after]) if (identity !== undefined) requireCovered(call, identity)
}

/** The identities whose logins the changes touch, beside the changes to the identities themselves. */
async function identitiesConcerned(tx: ReadTransaction, changes: Changes): Promise<readonly Identity[]> {
  const ids = new Set<string>()
  for (const resource of BELONGING) {
    for (const { before, after } of changesTo(changes, resource)) {
      for (const record of [before, after]) if (record?.identityId) ids.add(record.identityId)
    }
  }
  const concerned: Identity[] = []
  for (const id of ids) {
    // An identity that is deleted in the same write was judged with its own deletion.
    const identity = await tx.collection(identities).get(id)
    if (identity !== undefined) concerned.push(identity)
  }
  for (const { before } of changesTo(changes, authPolicies)) {
    if (before !== undefined) concerned.push(...(await identitiesBehindPolicy(tx, before)))
  }
  for (const { before, after } of changesTo(changes, externalJwtSigners)) {
    if (before !== undefined) concerned.push(...(await identitiesBehindSigner(tx, before, after)))
  }
  for (const { before, after } of changesTo(changes, cas)) {
    if (before !== undefined) concerned.push(...(await identitiesBehindCa(tx, before, after)))
  }
  concerned.push(...(await identitiesLosing(tx, changes)))
  return concerned
}

/** The identities with rights that lose a record when another record is deleted, by this write or by a write that continues it. */
async function identitiesLosing(tx: ReadTransaction, changes: Changes): Promise<readonly Identity[]> {
  const losing: Identity[] = []
  for (const { operation, kind, id } of changes) {
    const fields = operation === 'delete' ? BELONGING.flatMap((resource) => cascades(resource, kind)) : []
    for (const identity of fields.length === 0 ? [] : await privilegedIdentities(tx)) {
      for (const { resource, field } of fields) {
        const where = both(equals('identityId', identity.id), equals(field, id))
        const found = await tx.collection(resource).findIds({ ...(where && { where }), limit: 1 })
        if (found.length > 0) losing.push(identity)
      }
    }
  }
  return losing
}

/** The fields by which records that belong to identities go with a record of a kind; not with the identity itself. */
function cascades(
  resource: Resource,
  kind: string,
): readonly { readonly resource: Resource; readonly field: string }[] {
  return Object.entries(resource.definition.references ?? {}).flatMap(([field, { to, onDelete }]) =>
    to === kind && onDelete === 'cascade' && field !== 'identityId' ? [{ resource, field }] : [],
  )
}

function refusal(message: string): ControllerError {
  return new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
}
