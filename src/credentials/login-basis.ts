import { ControllerError } from '../base/errors.ts'
import type { EngineContext } from '../context/context.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'
import type { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import {
  authenticatorIdOfSigner,
  type BasisFacts,
  type CurrentVoucher,
  type LetIn,
  type LoginBasis,
  lostBasis,
  lostTrust,
  lostWord,
  NO_AUTHENTICATOR,
  type SignerProof,
  trustAnchorOf,
} from '../facts/credentials/login-basis.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import type { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { authRequests } from '../facts/oidc/auth-request.resource.ts'
import { hasEnded } from '../facts/pki/generations.rules.ts'
import { networkAuthorities } from '../facts/pki/network-authority.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { deleteEach } from '../records/deletion.ts'
import type { MORE, WriteBatch } from '../records/write-batches.ts'
import type { CertificateHolder } from './certificate-holder.ts'

/** Ends the API sessions of an identity or an authenticator, with their service sessions, as many as fit into a batch. */
export function endApiSessions(
  tx: WriteTransaction,
  of: 'identityId' | 'authenticatorId',
  id: string,
  batch: WriteBatch,
): Promise<undefined | typeof MORE> {
  return deleteEach(tx, apiSessions, equals(of, id), batch)
}

/** Ends the logins of an identity that are under way: all of their codes become void. There are few of them. */
export async function endLoginsUnderWay(tx: WriteTransaction, identityId: string): Promise<void> {
  for (const id of await tx.collection(authRequests).findIds({ where: equals('identityId', identityId) })) {
    await tx.collection(authRequests).delete(id)
  }
}

type Signer = RecordOf<typeof externalJwtSigners>
type Ca = RecordOf<typeof cas>
/** The credentials that a login came by. */
export type Basis = Pick<LetIn, 'authenticatorId' | 'trustAnchorId' | 'basis'>

/** The credentials of a login are not accepted any more; `reason` is for the operator's events, never for the caller. */
export class LostBasis extends ControllerError {
  readonly reason: string
  readonly identityId: string

  constructor(reason: string, identityId: string) {
    super('INVALID_AUTH')
    this.reason = reason
    this.identityId = identityId
  }
}

/** The fields of a signer that decide which identities its tokens name. */
const NAMING_OF_SIGNERS = [
  'audience',
  'certPem',
  'claimsProperty',
  'issuer',
  'jwksEndpoint',
  'kid',
  'useExternalId',
] as const satisfies readonly (keyof Signer)[]
/** The fields of a certificate authority that decide which identities its certificates name. */
const NAMING_OF_CAS = ['certPem', 'externalIdClaim'] as const satisfies readonly (keyof Ca)[]

/** The basis of a login by password. */
export function passwordBasis(authenticatorId: string): Basis {
  return { authenticatorId, trustAnchorId: null, basis: { certificate: null, voucher: null } }
}

/** The basis of a login by client certificate. */
export function certificateBasis(
  context: EngineContext,
  { authenticator, leaf, ca, identity }: CertificateHolder,
): Basis {
  const externalId = authenticator === undefined ? identity.externalId : null
  return {
    authenticatorId: authenticator?.id ?? NO_AUTHENTICATOR,
    trustAnchorId: ca?.id ?? null,
    basis: {
      certificate: { fingerprint: leaf.fingerprint, notAfter: leaf.notAfter },
      voucher: ca === undefined ? null : { trust: trustOf(context, ca, NAMING_OF_CAS), externalId },
    },
  }
}

/** The basis of a login by a token of an external signer. */
export function signerBasis(context: EngineContext, signer: Signer, identity: RecordOf<typeof identities>): Basis {
  const { signerId: trustAnchorId, ...voucher } = signerProofOf(context, signer, identity)
  return {
    authenticatorId: authenticatorIdOfSigner(signer.id),
    trustAnchorId,
    basis: { certificate: null, voucher },
  }
}

/** Makes the proof that is kept for a token of an external signer that named an identity. */
export function signerProofOf(
  context: EngineContext,
  signer: Signer,
  { externalId }: RecordOf<typeof identities>,
): SignerProof {
  const trust = trustOfSigner(context, signer)
  const named = signer.useExternalId ? externalId : null
  return { signerId: signer.id, trust, externalId: named, notAfter: signer.notAfter }
}

/**
 * Reports whether a token that proved a second factor would still prove it at `now` (epoch ms): it is of the required
 * signer, which still names the identity by it and is still allowed to.
 */
export function provesStill(
  context: EngineContext,
  proof: SignerProof | null,
  signer: Signer,
  identity: RecordOf<typeof identities>,
  now: number,
): boolean {
  return proof?.signerId === signer.id && lostWord(proof, identity, currentSigner(context, signer, now)) === undefined
}

/** Reports whether tokens of a signer may prove an identity at `now` (epoch ms). */
export function mayProve(signer: Signer, identity: RecordOf<typeof identities>, now: number): boolean {
  return lostTrust(identity, { ...signer, isInForce: isInForce(signer, now) }) === undefined
}

/** The basis of a session after its holder replaced the certificate that it began with. */
export function withCertificate(basis: LoginBasis | null, fingerprint: string, notAfter: number): LoginBasis {
  return { voucher: basis?.voucher ?? null, certificate: { fingerprint, notAfter } }
}

/**
 * Why the credentials of a login are not accepted any more at `now` (epoch ms), by the facts of a snapshot; `undefined`
 * while they are. Whether the identity is disabled is another question.
 */
export async function basisLost(
  context: EngineContext,
  tx: ReadTransaction,
  login: LetIn,
  identity: RecordOf<typeof identities>,
  { primary }: Pick<RecordOf<typeof authPolicies>, 'primary'>,
  now: number,
): Promise<string | undefined> {
  const authenticator =
    login.method === 'ext-jwt' || login.authenticatorId === NO_AUTHENTICATOR
      ? undefined
      : await whatIsLeft(() => tx.collection(authenticators).get(login.authenticatorId))
  const voucher = await currentVoucher(context, tx, login, authenticator, now)
  const isIssuerOver = await hasAuthorityEnded(context, tx, authenticator?.authorityKeyId, now)
  return lostBasis(login, { identity, primary, authenticator, isIssuerOver, voucher }, now)
}

/** Whether an authority of the network, by the identifier of its key, has ended as of a snapshot: another process may have ended it. */
async function hasAuthorityEnded(
  { pki }: EngineContext,
  tx: ReadTransaction,
  keyId: string | null | undefined,
  now: number,
): Promise<boolean> {
  const id = keyId == null ? undefined : pki.authorityIdOf(keyId)
  const authority = id === undefined ? undefined : await tx.collection(networkAuthorities).get(id)
  return authority !== undefined && hasEnded(authority, now)
}

/** Refuses a login whose credentials are not accepted any more. Throws {@link LostBasis}. */
export async function requireBasis(...asked: Parameters<typeof basisLost>): Promise<void> {
  const [, , , identity] = asked
  const reason = await basisLost(...asked)
  if (reason !== undefined) throw new LostBasis(reason, identity.id)
}

async function currentVoucher(
  context: EngineContext,
  tx: ReadTransaction,
  login: LetIn,
  authenticator: BasisFacts['authenticator'],
  now: number,
): Promise<CurrentVoucher | undefined> {
  const id = trustAnchorOf(login, authenticator)
  if (id === null) return undefined
  if (login.method === 'cert') {
    const ca = await tx.collection(cas).get(id)
    if (ca === undefined) return undefined
    const { isAuthEnabled, isVerified, mayAuthenticateAdmins } = ca
    return { isInForce: isAuthEnabled && isVerified, mayAuthenticateAdmins, trust: trustOf(context, ca, NAMING_OF_CAS) }
  }
  const signer = await tx.collection(externalJwtSigners).get(id)
  return signer && currentSigner(context, signer, now)
}

function currentSigner(context: EngineContext, signer: Signer, now: number): CurrentVoucher {
  const { mayAuthenticateAdmins } = signer
  return { isInForce: isInForce(signer, now), mayAuthenticateAdmins, trust: trustOfSigner(context, signer) }
}

function isInForce({ enabled, notAfter }: Signer, now: number): boolean {
  return enabled && (notAfter === null || now <= notAfter)
}

/** Logins end with a change of the role attributes that they claim: these count for as long as the login stands. */
function trustOfSigner(context: EngineContext, signer: Signer): string {
  const isClaimed = signer.attributeClaimsSelector !== null
  return trustOf(context, signer, isClaimed ? [...NAMING_OF_SIGNERS, 'attributeClaimsSelector'] : NAMING_OF_SIGNERS)
}

function trustOf<T extends object>({ digest }: EngineContext, anchor: T, fields: readonly (keyof T)[]): string {
  return digest.sha256(JSON.stringify(fields.map((field) => anchor[field])))
}
