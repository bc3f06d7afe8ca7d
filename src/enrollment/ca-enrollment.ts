import { z } from 'zod'
import { ControllerError } from '../base/errors.ts'
import { type Call, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { isValidAt } from '../credentials/certificate-holder.ts'
import { newAuthenticator } from '../credentials/new-authenticator.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import {
  externalIdOf,
  formatIdentityName,
  type NameSymbols,
  numberedName,
} from '../facts/credentials/signers/claims.rules.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities, PLAIN_IDENTITY } from '../facts/identities/identity.resource.ts'
import { checkClaimedFields } from '../identities/claimed-identities.ts'
import { readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { CertificateFacts } from '../ports/pki.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { requireQuota } from '../records/owner-quota.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { refusingDuplicates } from '../records/references.ts'
import { refusingUsedCertificate, requireAdmission } from './enrollment.ts'

type Ca = RecordOf<typeof cas>

/** Numbers behind a name stay below this. */
const MAX_NAMES = 1_000_000

/** Makes identities for holders of certificates of third parties that are trusted to enroll them. */
export class CaEnrollment {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Creates an identity for the client certificate of the connection. It authenticates with the certificate, or by the
   * external id that the certificate claims where its authority says so.
   *
   * @throws {ControllerError} ENROLLMENT_NO_VALID_CAS when no authority enrolls automatically.
   * @throws {ControllerError} CERT_FAILED_VALIDATION when none of them issued the certificate, or it is not valid at present.
   * @throws {ControllerError} MISSING_CERT_CLAIM when it lacks the external id that its authority asks for.
   * @throws {ControllerError} CERT_IN_USE when an identity authenticates with it already.
   * @throws {ControllerError} COULD_NOT_VALIDATE when the external id is taken, or a request could not give the name or the external id.
   * @throws {ControllerError} INVALID_ENROLLMENT_NOT_ALLOWED when the host refuses it.
   */
  async enroll(call: Call, requestedName: string | undefined): Promise<void> {
    readValue('name', z.string().optional(), requestedName)
    const now = this.#context.clock.now()
    const { ca, leaf } = await this.#authority(call, now)
    const externalId = ca.externalIdClaim === null ? null : externalIdOf(ca.externalIdClaim, leaf)
    if (externalId === undefined) throw new ControllerError('MISSING_CERT_CLAIM')
    const id = this.#context.random.id()
    const symbols = {
      caName: ca.name,
      caId: ca.id,
      commonName: leaf.commonName,
      requestedName: requestedName || id,
      identityId: id,
    }
    const identity = newRecord(id, now, {
      ...PLAIN_IDENTITY,
      typeId: 'Default',
      roleAttributes: ca.identityRoles,
      externalId,
      // An identity that logs in by an authenticator counts by that authenticator.
      enrolledById: externalId === null ? null : ca.id,
    })
    await requireAdmission(this.#context, call, { method: 'ca', identityId: id })
    const write = () =>
      this.#context.writes.run(redeemed(call), async (tx) => {
        const current = await tx.collection(cas).get(ca.id)
        if (!current?.isVerified || !current.isAutoCaEnrollmentEnabled)
          throw new ControllerError('CERT_FAILED_VALIDATION')
        const named = { ...identity, name: await freeName(tx, ca, symbols) }
        checkClaimedFields(named)
        const counted = [
          { resource: authenticators, field: 'caId' },
          { resource: identities, field: 'enrolledById' },
        ]
        await requireQuota(this.#context, tx, counted, { id: ca.id, limit: 'identitiesPerCa' })
        await tx.collection(identities).insert(named)
        if (externalId !== null) return
        const credential = { certPem: leaf.pem, fingerprint: leaf.fingerprint, caId: ca.id }
        await tx.collection(authenticators).insert(newAuthenticator(this.#context, id, credential, now))
      })
    await refusingDuplicates(identities, () => refusingUsedCertificate(leaf, write))
  }

  async #authority(call: Call, now: number): Promise<{ readonly ca: Ca; readonly leaf: CertificateFacts }> {
    const { items } = await this.#context.storage.read((tx) => tx.collection(cas).find())
    if (items.length === 0) throw new ControllerError('ENROLLMENT_NO_VALID_CAS')
    const willing = items.filter((ca) => ca.isVerified && ca.isAutoCaEnrollmentEnabled)
    const verdict = await this.#context.pki.verifyThirdPartyChain(call.clientCertificates ?? [], willing, now)
    const ca = verdict.trusted ? willing.find(({ id }) => id === verdict.authorityId) : undefined
    if (!verdict.trusted || ca === undefined || !isValidAt(verdict.leaf, now)) {
      throw new ControllerError('CERT_FAILED_VALIDATION')
    }
    return { ca, leaf: verdict.leaf }
  }
}

/** Finds a free name with a small number by few queries: other writes wait for this one. */
async function freeName(tx: ReadTransaction, ca: Ca, symbols: NameSymbols): Promise<string> {
  const wanted = formatIdentityName(ca.identityNameFormat, symbols)
  const isFree = async (attempt: number) =>
    (await findOne(tx, identities, 'name', numberedName(wanted, attempt))) === undefined
  if (await isFree(0)) return wanted
  let [taken, free] = [0, 1]
  while (free < MAX_NAMES && !(await isFree(free))) [taken, free] = [free, free * 2]
  if (free >= MAX_NAMES) return `${wanted}${symbols.identityId}`
  while (free - taken > 1) {
    const between = Math.floor((taken + free) / 2)
    if (await isFree(between)) free = between
    else taken = between
  }
  return numberedName(wanted, free)
}
