import { externalIdOf } from '../../domain/enrollment/external-id-claim.ts'
import { equals } from '../../domain/filter/index.ts'
import type { CertificateFacts } from '../../ports/pki.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { identities } from '../../resources/identities/identities.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import type { EngineContext } from '../context/context.ts'
import { findOne } from '../records/find-one.ts'

type Authenticator = RecordOf<typeof authenticators>
type Ca = RecordOf<typeof cas>

/** Whose certificate it is, and by which authenticator; by none where an external id tells. */
export interface CertificateHolder {
  readonly authenticator: Authenticator | undefined
  readonly identity: RecordOf<typeof identities>
  readonly authPolicy: RecordOf<typeof authPolicies>
  readonly leaf: CertificateFacts
  readonly improper: boolean
  /** The third-party authority that the certificate leads to; absent where it leads to the network's own roots. */
  readonly ca: Ca | undefined
}

/**
 * Finds the identity of a client's certificate chain (DER, leaf first): the leaf decides, and the rest only proves it. It
 * leads to the network's roots, or to a verified third party that may authenticate. Otherwise answers why there is none.
 */
export async function certificateHolder(
  context: EngineContext,
  chain: readonly Uint8Array[],
  now: number,
): Promise<CertificateHolder | string> {
  if (chain.length === 0) return 'no client certificate'
  const own = await context.pki.verifyClientChain(chain, now)
  if (own.trusted) return context.storage.read((tx) => byFingerprint(tx, own.leaf, own.improper, undefined))
  const { items: enabled } = await context.storage.read((tx) =>
    tx.collection(cas).find({ where: equals('isAuthEnabled', true) }),
  )
  const verified = enabled.filter(({ isVerified }) => isVerified)
  const verdict = await context.pki.verifyThirdPartyChain(chain, verified, now)
  const ca = verdict.trusted ? verified.find(({ id }) => id === verdict.authorityId) : undefined
  if (!verdict.trusted || ca === undefined) return 'untrusted client certificate'
  const externalId = ca.externalIdClaim === null ? undefined : externalIdOf(ca.externalIdClaim, verdict.leaf)
  return context.storage.read((tx) =>
    externalId === undefined
      ? byFingerprint(tx, verdict.leaf, false, ca)
      : byExternalId(tx, ca, externalId, verdict.leaf),
  )
}

/** Notes how a certificate was used, within the write that starts a session. */
export async function noteCertificateUse(tx: WriteTransaction, used: Authenticator, improper: boolean): Promise<void> {
  const current = await tx.collection(authenticators).get(used.id)
  const lastAuthResolvedToRoot = !improper
  if (current !== undefined && current.lastAuthResolvedToRoot !== lastAuthResolvedToRoot) {
    await tx.collection(authenticators).update({ ...current, lastAuthResolvedToRoot })
  }
}

async function byFingerprint(
  tx: ReadTransaction,
  leaf: CertificateFacts,
  improper: boolean,
  ca: Ca | undefined,
): Promise<CertificateHolder | string> {
  const authenticator = await findOne(tx, authenticators, 'fingerprint', leaf.fingerprint)
  const identity = authenticator && (await tx.collection(identities).get(authenticator.identityId))
  const authPolicy = identity && (await tx.collection(authPolicies).get(identity.authPolicyId))
  if (identity === undefined || authPolicy === undefined) return 'unknown client certificate'
  return { authenticator, identity, authPolicy, leaf, improper, ca }
}

async function byExternalId(
  tx: ReadTransaction,
  ca: Ca,
  externalId: string,
  leaf: CertificateFacts,
): Promise<CertificateHolder | string> {
  const identity = await findOne(tx, identities, 'externalId', externalId)
  const authPolicy = identity && (await tx.collection(authPolicies).get(identity.authPolicyId))
  if (identity === undefined || authPolicy === undefined) return 'unknown external id'
  return { authenticator: undefined, identity, authPolicy, leaf, improper: false, ca }
}
