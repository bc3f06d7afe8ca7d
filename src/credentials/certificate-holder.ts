import { ControllerError, invalidField } from '../base/errors.ts'
import type { EngineContext } from '../context/context.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { externalIdOf } from '../facts/credentials/signers/claims.rules.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { CertificateFacts, CsrProblem } from '../ports/pki.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'

type Authenticator = RecordOf<typeof authenticators>
type Ca = RecordOf<typeof cas>
type Identity = RecordOf<typeof identities>

/** A signer or an authority that vouches for a person by an external id. The identities that it vouched for first are counted. */
export interface Voucher {
  readonly id: string
  readonly limit: 'identitiesPerSigner' | 'identitiesPerCa'
  /** Reports whether the login of a new identity would be accepted, within the write that makes the identity. */
  readonly admits: (tx: ReadTransaction, identity: Identity) => Promise<boolean>
}

/** Makes the identity of an unknown person. True where there is an identity of the person afterwards. */
export type MakeIdentity = (externalId: string, voucher: Voucher) => Promise<boolean>

/** The holder of a certificate, and its authenticator; undefined where the holder is known by an external id. */
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
 * Finds the identity of a client's certificate chain (DER, leaf first). The leaf decides, and the rest only proves it: the chain leads to
 * the network's roots, or to a verified third party that may authenticate. Otherwise answers the reason of the refusal. `makeIdentity` makes
 * the identity of an external id that no identity has.
 */
export async function certificateHolder(
  context: EngineContext,
  chain: readonly Uint8Array[],
  now: number,
  makeIdentity?: MakeIdentity,
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
  const { leaf } = verdict
  if (externalId === undefined) return context.storage.read((tx) => byFingerprint(tx, leaf, false, ca))
  const find = () => context.storage.read((tx) => byExternalId(tx, ca, externalId, leaf))
  const found = await find()
  if (found !== UNKNOWN || makeIdentity === undefined || !isValidAt(leaf, now)) return found
  const voucher: Voucher = {
    id: ca.id,
    limit: 'identitiesPerCa',
    admits: (tx, made) => admitsByCertificate(tx, ca, made),
  }
  return (await makeIdentity(externalId, voucher)) ? find() : found
}

const UNKNOWN = 'unknown external id'

/** Reports whether an authority may authenticate an identity by certificate in a snapshot. */
async function admitsByCertificate(tx: ReadTransaction, ca: Ca, { authPolicyId }: Identity): Promise<boolean> {
  const current = await tx.collection(cas).get(ca.id)
  const authPolicy = await tx.collection(authPolicies).get(authPolicyId)
  return current?.updatedAt === ca.updatedAt && current.isAuthEnabled && (authPolicy?.primary.cert.allowed ?? false)
}

/** Records the use of a certificate, within the write that starts a session. */
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
  if (identity === undefined || authPolicy === undefined) return UNKNOWN
  return { authenticator: undefined, identity, authPolicy, leaf, improper: false, ca }
}

/** A certificate as an authenticator holds it. */
export interface CertificateCredential {
  readonly certPem: string
  readonly fingerprint: string
  readonly caId: string | null
}

/**
 * The credential of a presented certificate: of the network, or of a verified third party. It may have expired since.
 * Errors: `COULD_NOT_PARSE_PEM_BLOCK` unless it is exactly one, `CERT_FAILED_VALIDATION`.
 */
export async function trustedCertificate(context: EngineContext, certPem: string): Promise<CertificateCredential> {
  const certificates = await context.pki.readCertificates(certPem)
  const [certificate, ...others] = typeof certificates === 'string' ? [] : certificates
  if (certificate === undefined || others.length > 0) {
    const message = 'client pem must be exactly one certificate'
    throw new ControllerError('COULD_NOT_PARSE_PEM_BLOCK', { code: 'UNHANDLED', message })
  }
  const { pem, fingerprint } = certificate
  return { certPem: pem, fingerprint, caId: await authorityOf(context, certificate) }
}

async function authorityOf(context: EngineContext, { der, notBefore, fingerprint }: CertificateFacts) {
  const own = await context.pki.verifyClientChain([der], notBefore)
  if (own.trusted) return null
  const verified = await context.storage.read((tx) => tx.collection(cas).find({ where: equals('isVerified', true) }))
  const verdict = await context.pki.verifyThirdPartyChain([der], verified.items, notBefore)
  if (verdict.trusted) return verdict.authorityId
  const message = `error verifying client certificate [${fingerprint}] did not verify against known CAs`
  throw new ControllerError('CERT_FAILED_VALIDATION', { code: 'UNHANDLED', message })
}

/** Reports whether a certificate is within its validity at `now` (epoch ms). */
export function isValidAt({ notBefore, notAfter }: CertificateFacts, now: number): boolean {
  return notBefore <= now && now <= notAfter
}

/** The refusal of a signing request, naming the member of the request that held it. */
export function refusedCsr(field: string, problem: CsrProblem): ControllerError {
  const { details } = invalidField(field, CSR_REASONS[problem], '')
  return new ControllerError('COULD_NOT_PROCESS_CSR', details)
}

const CSR_REASONS: Readonly<Record<CsrProblem, string>> = {
  missing: 'a certificate signing request is required',
  unparsable: 'not a PEM certificate signing request',
  'bad-signature': 'the request is not signed by the key that it asks to certify',
  'weak-key': 'the key is too weak or of an unsupported kind',
}
