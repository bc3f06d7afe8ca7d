import { both, equals } from '../../domain/filter/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import type { cas } from '../../resources/enrollment/cas.ts'
import type { identities } from '../../resources/identities/identities.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import type { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { privilegedIdentities } from './privileged-identities.ts'

type Identity = RecordOf<typeof identities>
type Signer = RecordOf<typeof externalJwtSigners>
type Ca = RecordOf<typeof cas>

/** What decides whom the tokens of a signer authenticate, whether they do, and where people are sent for them. */
export const DECISIVE_OF_SIGNERS = [
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

/** What decides whom the certificates of an authority authenticate, and whether they do. */
const DECISIVE_OF_CAS = ['externalIdClaim', 'isAuthEnabled'] as const satisfies readonly (keyof Ca)[]

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
