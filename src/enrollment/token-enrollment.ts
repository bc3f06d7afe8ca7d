import { z } from 'zod'
import { ControllerError } from '../base/errors.ts'
import { type Call, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { refusedCsr } from '../credentials/certificate-holder.ts'
import { enabledSigners, type VerifiedToken, verifyTokens } from '../credentials/external-logins.ts'
import { credentialOf, newAuthenticator } from '../credentials/new-authenticator.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { textClaim, textClaims } from '../facts/credentials/signers/claims.rules.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { identities, PLAIN_IDENTITY } from '../facts/identities/identity.resource.ts'
import { checkClaimedFields } from '../identities/claimed-identities.ts'
import { readValue } from '../kernel/declaration/read-body.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { requireQuota } from '../records/owner-quota.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { refusingDuplicates } from '../records/references.ts'
import { requireAdmission } from './enrollment.ts'

/** Makes identities for the holders of tokens whose external signer allows it. */
export class TokenEnrollment {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Creates an identity for the bearer token of the call: with a signing request it authenticates by certificate, whose
   * chain (leaf first, PEM) is answered; without one by tokens like this. `signerId` names the signer to consider.
   *
   * @throws {ControllerError} INVALID_ENROLLMENT_TOKEN when no signer takes the token.
   * @throws {ControllerError} ENROLLMENT_IDENTITY_ALREADY_ENROLLED when an identity has its external id.
   * @throws {ControllerError} INVALID_ENROLLMENT_NOT_ALLOWED when the signer allows no enrollment of the kind, or the host refuses it.
   * @throws {ControllerError} COULD_NOT_PROCESS_CSR when the request cannot be read or its signature does not fit.
   * @throws {ControllerError} COULD_NOT_VALIDATE when a request could not give its claims.
   */
  async enroll(call: Call, signerId: string | null, csrPem: string | undefined): Promise<string | undefined> {
    readValue('signerId', z.string().nullable(), signerId)
    readValue('clientCsr', z.string().optional(), csrPem)
    const { clock, pki, random, storage } = this.#context
    const now = clock.now()
    const { signer, claims } = await this.#verified(call, signerId)
    const externalId = textClaim(claims, signer.claimsProperty)
    const name = textClaim(claims, signer.enrollNameClaimsSelector)
    if (externalId === undefined || name === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
    await storage.read(async (tx) => {
      await refuseEnrolled(tx, externalId)
      await refuseForbidden(tx, signer, csrPem !== undefined)
    })
    const id = random.id()
    const spiffeId = `spiffe://${pki.trustDomain}/identity/${id}`
    const issued = csrPem === undefined ? undefined : await pki.issueClientCertificate({ csrPem, spiffeId, now })
    if (issued?.issued === false) throw refusedCsr('clientCsr', issued.problem)
    const identity = newRecord(id, now, {
      ...PLAIN_IDENTITY,
      name,
      typeId: 'Default',
      externalId,
      enrolledById: signer.id,
      authPolicyId: signer.enrollAuthPolicyId,
      roleAttributes: [...new Set(textClaims(claims, signer.enrollAttributeClaimsSelector))].sort(),
    })
    checkClaimedFields(identity)
    const csr = csrPem === undefined ? {} : { csr: csrPem }
    await requireAdmission(this.#context, call, { method: 'token', identityId: id, ...csr })
    const write = () =>
      this.#context.writes.run(redeemed(call), async (tx) => {
        await refuseEnrolled(tx, externalId)
        const current = await tx.collection(externalJwtSigners).get(signer.id)
        if (!current?.enabled) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
        await refuseForbidden(tx, current, csrPem !== undefined)
        const counted = [{ resource: identities, field: 'enrolledById' }]
        await requireQuota(this.#context, tx, counted, { id: signer.id, limit: 'identitiesPerSigner' })
        await tx.collection(identities).insert(identity)
        if (issued === undefined) return
        await tx.collection(authenticators).insert(newAuthenticator(this.#context, id, credentialOf(issued.leaf), now))
      })
    await refusingDuplicates(identities, write)
    return issued?.chainPem
  }

  async #verified(call: Call, signerId: string | null): Promise<VerifiedToken> {
    const signers = await enabledSigners(this.#context)
    const considered = signerId === null ? signers : signers.filter(({ id }) => id === signerId)
    const { verified } = await verifyTokens(this.#context, call.bearerTokens ?? [], considered)
    const [first] = verified
    if (first === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
    return first
  }
}

async function refuseEnrolled(tx: ReadTransaction, externalId: string): Promise<void> {
  const known =
    (await findOne(tx, identities, 'externalId', externalId)) ?? (await tx.collection(identities).get(externalId))
  if (known !== undefined) throw new ControllerError('ENROLLMENT_IDENTITY_ALREADY_ENROLLED')
}

async function refuseForbidden(
  tx: ReadTransaction,
  signer: VerifiedToken['signer'],
  byCertificate: boolean,
): Promise<void> {
  const policy = await tx.collection(authPolicies).get(signer.enrollAuthPolicyId)
  if (policy === undefined) throw new ControllerError('INVALID_ENROLLMENT_NOT_ALLOWED')
  const { cert, extJwt } = policy.primary
  const isAllowedSigner = extJwt.allowedSigners.length === 0 || extJwt.allowedSigners.includes(signer.id)
  const isAllowed = byCertificate
    ? signer.enrollToCertEnabled && cert.allowed
    : signer.enrollToTokenEnabled && extJwt.allowed && isAllowedSigner
  if (!isAllowed) throw new ControllerError('INVALID_ENROLLMENT_NOT_ALLOWED')
}
