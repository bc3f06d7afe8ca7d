import { z } from 'zod'
import { notFound } from '../base/errors.ts'
import { type Call, mayRead } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { isAdministrator } from '../facts/authority/authority.rules.ts'
import { PERMISSIONS } from '../facts/authority/permissions.resource.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { readId, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, equals, type Filter } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'

type Identity = RecordOf<typeof identities>
type Signer = RecordOf<typeof externalJwtSigners>
type Ca = RecordOf<typeof cas>

/** Fields that decide which identities the tokens of a signer authenticate, with which role attributes, and where browsers are sent for them. */
export const DECISIVE_OF_SIGNERS = [
  'attributeClaimsSelector',
  'audience',
  'certPem',
  'claimsProperty',
  'clientId',
  'enabled',
  'externalAuthUrl',
  'issuer',
  'jwksEndpoint',
  'kid',
  'scopes',
  'targetToken',
  'useExternalId',
] as const satisfies readonly (keyof Signer)[]

/** Fields that decide which identities the certificates of an authority authenticate, and whether they do. */
export const DECISIVE_OF_CAS = ['externalIdClaim', 'isAuthEnabled'] as const satisfies readonly (keyof Ca)[]

/** The identities with rights that authenticate as a policy says. */
export function identitiesBehindPolicy(
  tx: ReadTransaction,
  { id }: RecordOf<typeof authPolicies>,
): Promise<readonly Identity[]> {
  return privilegedIdentities(tx, equals('authPolicyId', id))
}

/** The identities with rights whose login a change to a signer, or its deletion, decides. */
export async function identitiesBehindSigner(
  tx: ReadTransaction,
  before: Signer,
  after: Signer | undefined,
): Promise<readonly Identity[]> {
  if (!before.mayAuthenticateAdmins || isSame(before, after, DECISIVE_OF_SIGNERS)) return []
  const concerned: Identity[] = []
  for (const identity of await privilegedIdentities(tx)) {
    const policy = await tx.collection(authPolicies).get(identity.authPolicyId)
    if (policy === undefined) continue
    const { allowed, allowedSigners } = policy.primary.extJwt
    const isPrimary =
      allowed &&
      (allowedSigners.includes(before.id) ||
        (allowedSigners.length === 0 && before.useExternalId && identity.externalId !== null))
    if (isPrimary || policy.secondary.requireExtJwtSigner === before.id) concerned.push(identity)
  }
  return concerned
}

/** The identities with rights whose login a change to a certificate authority, or its deletion, decides. */
export async function identitiesBehindCa(
  tx: ReadTransaction,
  before: Ca,
  after: Ca | undefined,
): Promise<readonly Identity[]> {
  if (!before.mayAuthenticateAdmins || isSame(before, after, DECISIVE_OF_CAS)) return []
  const concerned: Identity[] = []
  for (const identity of await privilegedIdentities(tx)) {
    const where = both(equals('identityId', identity.id), equals('caId', before.id))
    const { totalCount } = await tx.collection(authenticators).find({ ...(where && { where }), limit: 1 })
    const isNamed = before.externalIdClaim !== null && identity.externalId !== null
    if (isNamed || totalCount > 0) concerned.push(identity)
  }
  return concerned
}

/** Reports whether the fields hold the same; a record that is gone holds nothing. */
export function isSame<T extends object>(before: T, after: T | undefined, fields: readonly (keyof T)[]): boolean {
  return after !== undefined && fields.every((field) => JSON.stringify(before[field]) === JSON.stringify(after[field]))
}

/** A certificate authority or external JWT signer, and whether it is trusted to authenticate identities with rights. */
export interface TrustAnchor {
  readonly id: string
  readonly name: string
  readonly kind: 'ca' | 'external-jwt-signer'
  /** False after a delegate made or changed it, until an administrator trusts it. */
  readonly mayAuthenticateAdmins: boolean
}

/**
 * Which trust anchors may authenticate administrators and delegates. An anchor that an administrator made is trusted. It loses the trust
 * when a delegate changes which identities it authenticates. Only {@link TrustAnchors.trust} restores it.
 */
export class TrustAnchors {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The trust anchors of the kinds that the caller may read, certificate authorities first. */
  list(call: Call): Promise<readonly TrustAnchor[]> {
    return this.#context.storage.read(async (tx) => [
      ...(mayRead(call, 'ca') ? (await tx.collection(cas).find()).items.map(anchor('ca')) : []),
      ...(mayRead(call, 'external-jwt-signer')
        ? (await tx.collection(externalJwtSigners).find()).items.map(anchor('external-jwt-signer'))
        : []),
    ])
  }

  /**
   * Sets whether an anchor is trusted; only administrators may do so.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such signer or certificate authority.
   *
   * @example
   * await engine.trustAnchors.trust(SYSTEM_CALL, signer.id, true)
   */
  async trust(call: Call, id: string, mayAuthenticateAdmins: boolean): Promise<TrustAnchor> {
    readId(id)
    readValue('mayAuthenticateAdmins', z.boolean(), mayAuthenticateAdmins)
    const now = this.#context.clock.now()
    return this.#context.writes.run(call, async (tx) => {
      const ca = await tx.collection(cas).get(id)
      if (ca !== undefined) {
        await tx.collection(cas).update({ ...ca, mayAuthenticateAdmins, updatedAt: now })
        return { id, name: ca.name, kind: 'ca', mayAuthenticateAdmins }
      }
      const signer = await tx.collection(externalJwtSigners).get(id)
      if (signer === undefined) throw notFound('trust anchor', id)
      await tx.collection(externalJwtSigners).update({ ...signer, mayAuthenticateAdmins, updatedAt: now })
      return { id, name: signer.name, kind: 'external-jwt-signer', mayAuthenticateAdmins }
    })
  }
}

function anchor(kind: TrustAnchor['kind']) {
  return ({ id, name, mayAuthenticateAdmins }: Omit<TrustAnchor, 'kind'>): TrustAnchor => {
    return { id, name, kind, mayAuthenticateAdmins }
  }
}

const IS_ADMIN = equals('isAdmin', true)
const IS_DEFAULT_ADMIN = equals('isDefaultAdmin', true)
const HAS_PERMISSION: Filter = {
  kind: 'in',
  operand: { kind: 'anyOf', field: 'permissions' },
  values: new Set(PERMISSIONS),
}

/** The administrators, found by an index; a network has few. `where` narrows them. */
export async function administrators(tx: ReadTransaction, where?: Filter): Promise<readonly Identity[]> {
  return distinct([
    await identitiesWith(tx, both(IS_ADMIN, where)),
    await identitiesWith(tx, both(IS_DEFAULT_ADMIN, where)),
  ])
}

/** Administrators and identities with delegated permissions. `where` narrows them. */
export async function privilegedIdentities(tx: ReadTransaction, where?: Filter): Promise<readonly Identity[]> {
  const delegates = await identitiesWith(tx, both(HAS_PERMISSION, where))
  return distinct([await administrators(tx, where), delegates.filter((identity) => !isAdministrator(identity))])
}

async function identitiesWith(tx: ReadTransaction, where: Filter | undefined): Promise<readonly Identity[]> {
  return (await tx.collection(identities).find({ ...(where && { where }) })).items
}

function distinct(lists: readonly (readonly Identity[])[]): readonly Identity[] {
  return [...new Map(lists.flat().map((identity) => [identity.id, identity])).values()]
}
