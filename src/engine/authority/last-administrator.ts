import { ControllerError } from '../../domain/errors.ts'
import { equals } from '../../domain/filter/index.ts'
import { isAdministrator } from '../../domain/identity.ts'
import { isLockedForGood } from '../../domain/login/lockout.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { identities } from '../../resources/identities/identities.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { changesTo } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { ifReadable, isStored } from '../records/damaged-records.ts'
import { administrators } from './privileged-identities.ts'

type Identity = RecordOf<typeof identities>
type Authenticator = RecordOf<typeof authenticators>

/** What decides whether an administrator is let in, of what an identity's record holds. */
const DECISIVE = ['isAdmin', 'isDefaultAdmin', 'disabledAt', 'disabledUntil', 'authPolicyId', 'externalId'] as const

/**
 * Refuses a request after which no administrator could log in, not even later by itself: the network could be administered
 * by nobody any more. Error: `ENTITY_CAN_NOT_BE_UPDATED`; nothing is written then. The host itself is not refused.
 */
export async function keepAnAdministrator(tx: WriteTransaction, write: RecordedWrite, now: number): Promise<void> {
  if (write.call.by !== 'caller' || !mayShutOut(write)) return
  if (await hasAdministratorWhoLogsIn(tx, now)) return
  const message = 'no administrator could log in any more'
  throw new ControllerError('ENTITY_CAN_NOT_BE_UPDATED', { code: 'UNHANDLED', message })
}

/** Reports whether some administrator has a way to log in, now or once it is not disabled any more. */
export async function hasAdministratorWhoLogsIn(tx: ReadTransaction, now: number): Promise<boolean> {
  for (const identity of await administrators(tx)) if (await canLogIn(tx, identity, now)) return true
  return false
}

function mayShutOut({ changes }: RecordedWrite): boolean {
  const isLess = changesTo(changes, identities).some(
    ({ before, after }) =>
      before !== undefined &&
      isAdministrator(before) &&
      DECISIVE.some((field) => after === undefined || before[field] !== after[field]),
  )
  const isGone = changesTo(changes, authenticators).some(({ operation }) => operation === 'delete')
  const kinds = [authPolicies.name, externalJwtSigners.name, cas.name]
  return isLess || isGone || changes.some(({ kind, operation }) => operation !== 'insert' && kinds.includes(kind))
}

/** Reports whether an identity has some way to log in, now or once it is not disabled any more. */
async function canLogIn(tx: ReadTransaction, identity: Identity, now: number): Promise<boolean> {
  if (identity.disabledAt !== null && identity.disabledUntil === null) return false
  const readPolicy = () => tx.collection(authPolicies).get(identity.authPolicyId)
  const policy = await ifReadable(readPolicy)
  if (policy === undefined) return isStored(readPolicy)
  const { primary, secondary } = policy
  if (secondary.requireExtJwtSigner) {
    const signer = await tx.collection(externalJwtSigners).get(secondary.requireExtJwtSigner)
    if (!signer?.enabled || !signer.mayAuthenticateAdmins) return false
  }
  const { items: own, damaged = [] } = await tx
    .collection(authenticators)
    .find({ where: equals('identityId', identity.id) })
  // What cannot be read was not taken away by this write.
  if (damaged.length > 0) return true
  if (primary.updb.allowed && own.some((one) => one.method === 'updb' && !isLockedForGood(one))) return true
  if (primary.cert.allowed && ((await hasCertificate(tx, identity, own)) || (await hasNamingCa(tx, identity))))
    return true
  return primary.extJwt.allowed && hasSigner(tx, identity, primary.extJwt.allowedSigners, now)
}

/** A certificate of a third party stands for its identity as long as its authority lets it in by it. */
async function hasCertificate(
  tx: ReadTransaction,
  identity: Identity,
  own: readonly Authenticator[],
): Promise<boolean> {
  for (const { method, caId } of own) {
    if (method !== 'cert') continue
    if (caId === null) return true
    const ca = await tx.collection(cas).get(caId)
    if (ca?.isAuthEnabled && ca.isVerified && (ca.externalIdClaim === null || identity.externalId !== null)) return true
  }
  return false
}

async function hasNamingCa(tx: ReadTransaction, { externalId }: Identity): Promise<boolean> {
  if (externalId === null) return false
  const { items } = await tx.collection(cas).find({ where: equals('isAuthEnabled', true) })
  return items.some((ca) => ca.isVerified && ca.mayAuthenticateAdmins && ca.externalIdClaim !== null)
}

async function hasSigner(
  tx: ReadTransaction,
  { externalId }: Identity,
  allowed: readonly string[],
  now: number,
): Promise<boolean> {
  const { items } = await tx.collection(externalJwtSigners).find({ where: equals('enabled', true) })
  return items.some(
    (signer) =>
      signer.mayAuthenticateAdmins &&
      (allowed.length === 0 || allowed.includes(signer.id)) &&
      (signer.notAfter === null || now < signer.notAfter) &&
      (externalId !== null || !signer.useExternalId),
  )
}
