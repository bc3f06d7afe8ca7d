import { z } from 'zod'
import { ControllerError, invalidField } from '../base/errors.ts'
import { type Call, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { isValidAt, refusedCsr } from '../credentials/certificate-holder.ts'
import { type Credential, credentialOf, newAuthenticator, newPasswordHash } from '../credentials/new-authenticator.ts'
import { authenticators, Password } from '../facts/credentials/authenticator.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { EnrollmentAttempt } from '../facts/network/host-rules.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { CertificateFacts } from '../ports/pki.ts'
import { type ReadTransaction, UniqueViolation } from '../ports/record-storage.ts'
import { keepOwnerQuota } from '../records/owner-quota.ts'
import { findOne } from '../records/read-records.ts'
import { refusingDuplicates } from '../records/references.ts'

/** An enrollment that gave its identity, or its router, a credential. */
interface CompletedEnrollment {
  readonly enrollmentId: string
  readonly method: string
  readonly identityId: string | undefined
  readonly edgeRouterId: string | undefined
}

/** An enrollment is completed by the write that consumes it and gives its identity, or its router, a credential. */
export function completedEnrollments(changes: readonly RecordedChange[]): readonly CompletedEnrollment[] {
  const credited = changesTo(changes, authenticators).flatMap(({ operation, after }) =>
    operation === 'insert' && after !== undefined ? [after.identityId] : [],
  )
  const verified = changesTo(changes, edgeRouters).flatMap(({ after }) => (after?.isVerified ? [after.id] : []))
  return changesTo(changes, enrollments).flatMap(({ operation, before }) => {
    if (operation !== 'delete' || before === undefined) return []
    const { id: enrollmentId, method, identityId, edgeRouterId } = before
    const isCompleted =
      (identityId !== null && credited.includes(identityId)) ||
      (edgeRouterId !== null && verified.includes(edgeRouterId))
    const whose = { identityId: identityId ?? undefined, edgeRouterId: edgeRouterId ?? undefined }
    return isCompleted ? [{ enrollmentId, method, ...whose }] : []
  })
}

type EnrollmentRecord = RecordOf<typeof enrollments>

/** An enrollment that may be used now, and the identity that it invites. */
interface Invited {
  readonly enrollment: EnrollmentRecord
  readonly method: 'ott' | 'ottca' | 'updb'
  readonly identityId: string
}

/** Turns one-time tokens into credentials. A token works once: of many concurrent callers exactly one enrolls. */
export class Enrollment {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Enrolls an identity by one-time token and certificate signing request. Afterwards the token is gone and the identity
   * authenticates with the certificate. Answers the certificate chain, leaf first, PEM.
   *
   * @throws {ControllerError} INVALID_ENROLLMENT_TOKEN when the token is unknown.
   * @throws {ControllerError} INVALID_ENROLL_METHOD when it belongs to an enrollment of another method.
   * @throws {ControllerError} ENROLLMENT_EXPIRED when it is past its time.
   * @throws {ControllerError} COULD_NOT_PROCESS_CSR when the request cannot be read or its signature does not fit.
   * @throws {ControllerError} INVALID_ENROLLMENT_NOT_ALLOWED when the host refuses it.
   */
  async byOneTimeToken(call: Call, token: string, csrPem: string): Promise<{ readonly certificateChainPem: string }> {
    readValue('token', z.string(), token)
    readValue('clientCsr', z.string(), csrPem)
    const { clock, pki } = this.#context
    const now = clock.now()
    const invited = await this.#invited(token, 'ott', now)
    const spiffeId = `spiffe://${pki.trustDomain}/identity/${invited.identityId}`
    const issued = await pki.issueClientCertificate({ csrPem, spiffeId, now })
    if (!issued.issued) throw refusedCsr('clientCsr', issued.problem)
    await this.#enroll(call, { ...invited, csr: csrPem }, credentialOf(issued.leaf), now)
    return { certificateChainPem: issued.chainPem }
  }

  /**
   * Enrolls an identity by one-time token and the third-party client certificate of the connection.
   *
   * @throws {ControllerError} INVALID_ENROLLMENT_TOKEN when the token is unknown.
   * @throws {ControllerError} INVALID_ENROLL_METHOD when it belongs to an enrollment of another method.
   * @throws {ControllerError} ENROLLMENT_EXPIRED when it is past its time.
   * @throws {ControllerError} ENROLLMENT_CA_NOT_VALID when the authority of the enrollment is gone or not verified.
   * @throws {ControllerError} CERTIFICATE_FAILED_VALIDATION when it did not issue the certificate, or the certificate
   *   is not valid at present.
   * @throws {ControllerError} CERT_IN_USE when an identity authenticates with the certificate already.
   * @throws {ControllerError} INVALID_ENROLLMENT_NOT_ALLOWED when the host refuses it.
   */
  async byClientCertificate(call: Call, token: string): Promise<void> {
    readValue('token', z.string(), token)
    const now = this.#context.clock.now()
    const invited = await this.#invited(token, 'ottca', now)
    const caId = invited.enrollment.caId ?? ''
    const ca = await this.#context.storage.read((tx) => tx.collection(cas).get(caId))
    if (ca === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
    if (!ca.isOttCaEnrollmentEnabled || !ca.isVerified) throw new ControllerError('ENROLLMENT_CA_NOT_VALID')
    const verdict = await this.#context.pki.verifyThirdPartyChain(call.clientCertificates ?? [], [ca], now)
    if (!verdict.trusted || !isValidAt(verdict.leaf, now)) throw new ControllerError('CERTIFICATE_FAILED_VALIDATION')
    const { pem: certPem, fingerprint } = verdict.leaf
    const confirm = async (tx: ReadTransaction) => {
      const current = await tx.collection(cas).get(caId)
      if (!current?.isOttCaEnrollmentEnabled || !current.isVerified)
        throw new ControllerError('ENROLLMENT_CA_NOT_VALID')
    }
    const credential = { certPem, fingerprint, caId }
    await refusingUsedCertificate(verdict.leaf, () => this.#enroll(call, invited, credential, now, confirm))
  }

  /**
   * Enrolls an identity by one-time token with a password of its own choice. Answers its username, which the enrollment determines.
   *
   * @throws {ControllerError} INVALID_ENROLLMENT_TOKEN when the token is unknown.
   * @throws {ControllerError} INVALID_ENROLL_METHOD when it belongs to an enrollment of another method.
   * @throws {ControllerError} ENROLLMENT_EXPIRED when it is past its time.
   * @throws {ControllerError} NOT_FOUND when the identity is gone.
   * @throws {ControllerError} COULD_NOT_VALIDATE when the auth policy refuses the password.
   * @throws {ControllerError} INVALID_ENROLLMENT_NOT_ALLOWED when the host refuses it.
   */
  async byPassword(call: Call, token: string, password: string): Promise<{ readonly username: string }> {
    readValue('token', z.string(), token)
    readValue('password', z.string().max(100), password)
    const now = this.#context.clock.now()
    const invited = await this.#invited(token, 'updb', now)
    if (password === '') throw invalidField('password', 'password in body is required', '')
    readValue('password', Password, password)
    const username = invited.enrollment.username ?? ''
    const passwordHash = await newPasswordHash(this.#context, invited.identityId, password)
    await refusingDuplicates(authenticators, () => this.#enroll(call, invited, { username, passwordHash }, now))
    return { username }
  }

  /**
   * The method of the enrollment that a token belongs to.
   *
   * @throws {ControllerError} INVALID_ENROLLMENT_TOKEN when the token is unknown.
   */
  async methodOf(token: string): Promise<EnrollmentRecord['method']> {
    readValue('token', z.string(), token)
    const found = await this.#context.storage.read((tx) => findOne(tx, enrollments, 'token', token))
    if (found === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
    return found.method
  }

  #invited(token: string, method: Invited['method'], now: number): Promise<Invited> {
    return this.#context.storage.read(async (tx) => {
      const enrollment = await usableEnrollment(tx, token, method, now)
      const { identityId } = enrollment
      const identity = identityId === null ? undefined : await tx.collection(identities).get(identityId)
      if (identity === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      return { enrollment, method, identityId: identity.id }
    })
  }

  async #enroll(
    call: Call,
    { enrollment, identityId, method, csr }: Invited & Pick<EnrollmentAttempt, 'csr'>,
    credential: Credential,
    now: number,
    confirm?: (tx: ReadTransaction) => Promise<void>,
  ): Promise<void> {
    await requireAdmission(this.#context, call, { method, identityId, ...(csr !== undefined && { csr }) })
    await this.#context.writes.run(redeemed(call), async (tx) => {
      const current = await tx.collection(enrollments).get(enrollment.id)
      // A refresh keeps the id and makes the token that was presented void.
      if (current?.token !== enrollment.token || (await tx.collection(identities).get(identityId)) === undefined) {
        throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      }
      await confirm?.(tx)
      await tx.collection(enrollments).delete(enrollment.id)
      const authenticator = newAuthenticator(this.#context, identityId, credential, now)
      await keepOwnerQuota(this.#context, tx, authenticators, authenticator)
      await tx.collection(authenticators).insert(authenticator)
    })
  }
}

/** Asks the host whether an enrollment goes on. Error: `INVALID_ENROLLMENT_NOT_ALLOWED`. */
export async function requireAdmission(
  { host }: EngineContext,
  { remoteAddress }: Call,
  attempt: Omit<EnrollmentAttempt, 'remoteAddress'>,
): Promise<void> {
  if (await host.admitsEnrollment({ ...attempt, remoteAddress })) return
  throw new ControllerError('INVALID_ENROLLMENT_NOT_ALLOWED')
}

/** The enrollment of a token. Errors: `INVALID_ENROLLMENT_TOKEN`, `INVALID_ENROLL_METHOD`, `ENROLLMENT_EXPIRED`. */
export async function usableEnrollment(
  tx: ReadTransaction,
  token: string,
  method: EnrollmentRecord['method'],
  now: number,
): Promise<EnrollmentRecord> {
  const enrollment = await findOne(tx, enrollments, 'token', token)
  if (enrollment === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
  if (enrollment.method !== method) throw new ControllerError('INVALID_ENROLL_METHOD')
  if (enrollment.expiresAt <= now) throw new ControllerError('ENROLLMENT_EXPIRED')
  return enrollment
}

/** Runs a write that stores a client certificate. Error: `CERT_IN_USE` when an authenticator already holds it. */
export async function refusingUsedCertificate<T>(
  { fingerprint }: CertificateFacts,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof UniqueViolation) || error.field !== 'fingerprint') throw error
    throw new ControllerError('CERT_IN_USE', { data: { fingerprint } })
  }
}
