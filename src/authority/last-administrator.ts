import { ControllerError } from '../base/errors.ts'
import { HOUR_MS } from '../base/time.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { isAdministrator, isDisabled } from '../facts/authority/authority.rules.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { isLocked } from '../facts/credentials/lockout.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { Pki } from '../ports/pki.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { ifReadable, isStored } from '../records/read-records.ts'
import { administrators } from './trust.ts'

type Identity = RecordOf<typeof identities>
type Authenticator = RecordOf<typeof authenticators>
type Signer = RecordOf<typeof externalJwtSigners>

/** Fields of an identity that decide whether an administrator can log in. */
const DECISIVE = [
  'isAdmin',
  'isDefaultAdmin',
  'rightsUntil',
  'disabledAt',
  'disabledUntil',
  'directoryDisabledAt',
  'authPolicyId',
  'externalId',
] as const

/** How soon (ms) a locked password must open again to count as a way to log in, and for how long a certificate must still be valid. */
export const SOON_MS = HOUR_MS

/** The sources by which logins are judged: a snapshot, the reader of certificates, and the time (epoch ms). */
export interface LoginFacts {
  readonly tx: ReadTransaction
  readonly pki: Pki
  readonly now: number
}

/**
 * Refuses a request after which no administrator could log in: nobody could administer the network any more. Error:
 * `ENTITY_CAN_NOT_BE_UPDATED`; nothing is written then. The host itself is not refused.
 */
export async function keepAnAdministrator(
  { pki, clock }: EngineContext,
  tx: ReadTransaction,
  write: RecordedWrite,
): Promise<void> {
  if (write.call.by !== 'caller' || !mayShutOut(write)) return
  if (await hasAdministratorWhoLogsIn({ tx, pki, now: clock.now() })) return
  const message = 'no administrator could log in any more'
  throw new ControllerError('ENTITY_CAN_NOT_BE_UPDATED', { code: 'UNHANDLED', message })
}

/**
 * Reports whether some administrator has a way to log in. A disabled administrator has none, however soon that ends:
 * until then nobody can administer the network. A password that wrong guesses locked counts when it opens soon, so that
 * guessing stops no request. A certificate or a signer that ends soon does not count, nor an administrator whose rights end.
 */
export async function hasAdministratorWhoLogsIn(facts: LoginFacts): Promise<boolean> {
  for (const identity of await administrators(facts.tx)) if (await canLogIn(facts, identity)) return true
  return false
}

/** Reports whether an identity, as a write left it, is an administrator, and no administrator could log in any more. */
export async function wasLastAdministrator(facts: LoginFacts, id: string): Promise<boolean> {
  const identity = await facts.tx.collection(identities).get(id)
  return identity !== undefined && isAdministrator(identity) && !(await hasAdministratorWhoLogsIn(facts))
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

async function canLogIn(facts: LoginFacts, identity: Identity): Promise<boolean> {
  const { tx, now } = facts
  if (isDisabled(identity, now) || identity.rightsUntil !== null) return false
  const readPolicy = () => tx.collection(authPolicies).get(identity.authPolicyId)
  const policy = await ifReadable(readPolicy)
  if (policy === undefined) return isStored(readPolicy)
  const { primary, secondary } = policy
  if (secondary.requireExtJwtSigner) {
    const signer = await tx.collection(externalJwtSigners).get(secondary.requireExtJwtSigner)
    if (signer === undefined || !vouchesFor(identity, signer, now)) return false
  }
  const { items: own, damaged = [] } = await tx
    .collection(authenticators)
    .find({ where: equals('identityId', identity.id) })
  // This write did not make the record unreadable, so the record still counts.
  if (damaged.length > 0) return true
  const { updb, cert, extJwt } = primary
  if (updb.allowed && own.some((one) => one.method === 'updb' && !isLocked(one, now + SOON_MS))) return true
  if (cert.allowed) {
    if (await hasCertificate(facts, identity, own, cert.allowExpiredCerts)) return true
    if (await hasNamingCa(facts, identity)) return true
  }
  return extJwt.allowed && hasSigner(facts, identity, extJwt.allowedSigners)
}

/** A certificate of a third party authenticates its identity as long as its authority lets administrators log in with it. */
async function hasCertificate(
  facts: LoginFacts,
  identity: Identity,
  own: readonly Authenticator[],
  mayHaveExpired: boolean,
): Promise<boolean> {
  for (const { method, caId, certPem } of own) {
    if (method !== 'cert' || !(mayHaveExpired || (await isGoodForLong(facts, certPem)))) continue
    if (caId === null) return true
    const ca = await facts.tx.collection(cas).get(caId)
    const isNamed = ca?.externalIdClaim === null || identity.externalId !== null
    if (ca !== undefined && isNamed && (await letsAdministratorsIn(facts, ca))) return true
  }
  return false
}

async function hasNamingCa(facts: LoginFacts, { externalId }: Identity): Promise<boolean> {
  if (externalId === null) return false
  const { items } = await facts.tx.collection(cas).find({ where: equals('isAuthEnabled', true) })
  for (const ca of items) if (ca.externalIdClaim !== null && (await letsAdministratorsIn(facts, ca))) return true
  return false
}

async function letsAdministratorsIn(facts: LoginFacts, ca: RecordOf<typeof cas>): Promise<boolean> {
  if (!ca.isAuthEnabled || !ca.isVerified || !ca.mayAuthenticateAdmins) return false
  return isGoodForLong(facts, ca.certPem)
}

/** This write did not make the certificates unreadable, so they still count. */
async function isGoodForLong({ pki, now }: LoginFacts, certPem: string | null): Promise<boolean> {
  const certificates = certPem === null ? 'no-pem' : await pki.readCertificates(certPem)
  const [certificate] = typeof certificates === 'string' ? [] : certificates
  return certificate === undefined || now + SOON_MS < certificate.notAfter
}

async function hasSigner({ tx, now }: LoginFacts, identity: Identity, allowed: readonly string[]): Promise<boolean> {
  const { items } = await tx.collection(externalJwtSigners).find({ where: equals('enabled', true) })
  return items.some(
    (signer) => (allowed.length === 0 || allowed.includes(signer.id)) && vouchesFor(identity, signer, now),
  )
}

function vouchesFor({ externalId }: Identity, signer: Signer, now: number): boolean {
  return (
    signer.enabled &&
    signer.mayAuthenticateAdmins &&
    (signer.notAfter === null || now + SOON_MS < signer.notAfter) &&
    (externalId !== null || !signer.useExternalId)
  )
}
