import { ControllerError } from '../domain/errors.ts'
import { authenticators } from '../resources/authenticators.ts'
import { enrollments } from '../resources/enrollments.ts'
import { identities } from '../resources/identities.ts'
import type { RecordOf } from '../resources/resource.ts'
import type { Call } from './call.ts'
import type { EngineContext } from './context.ts'
import { findOne } from './find-one.ts'
import { writeAndTell } from './writes.ts'

type EnrollmentRecord = RecordOf<typeof enrollments>

/** Turns one-time tokens into credentials. A token is good once: of many concurrent callers exactly one enrolls. */
export class Enrollment {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Enrolls an identity by one-time token and certificate signing request. Afterwards the token is gone and the identity
   * authenticates with the certificate. Answers the certificate chain, leaf first, PEM.
   *
   * Errors: `INVALID_ENROLLMENT_TOKEN`, `INVALID_ENROLL_METHOD`, `ENROLLMENT_EXPIRED`, `COULD_NOT_PROCESS_CSR`.
   */
  async byOneTimeToken(call: Call, token: string, csrPem: string): Promise<{ readonly certificateChainPem: string }> {
    const { clock, pki, random, storage } = this.#context
    const now = clock.now()
    const { enrollment, identityId } = await storage.read(async (tx) => {
      const found = this.#usable(await findOne(tx, enrollments, 'token', token), 'ott', now)
      const identity = found.identityId === null ? undefined : await tx.collection(identities).get(found.identityId)
      if (identity === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      return { enrollment: found, identityId: identity.id }
    })
    const spiffeId = `spiffe://${pki.trustDomain}/identity/${identityId}`
    const issued = await pki.issueClientCertificate({ csrPem, spiffeId, now })
    if (!issued.issued) {
      throw new ControllerError('COULD_NOT_PROCESS_CSR', { field: 'clientCsr', reason: CSR_REASONS[issued.problem] })
    }
    await writeAndTell(this.#context, call, async (tx) => {
      const consumed = await tx.collection(enrollments).delete(enrollment.id)
      const identity = await tx.collection(identities).get(identityId)
      if (!consumed || identity === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      await tx.collection(authenticators).insert({
        id: random.id(),
        createdAt: now,
        updatedAt: now,
        tags: {},
        identityId,
        method: 'cert',
        username: null,
        passwordHash: null,
        certPem: issued.leaf.pem,
        fingerprint: issued.leaf.fingerprint,
        isIssuedByNetwork: true,
        lastAuthResolvedToRoot: true,
      })
    })
    return { certificateChainPem: issued.chainPem }
  }

  #usable(enrollment: EnrollmentRecord | undefined, method: EnrollmentRecord['method'], now: number): EnrollmentRecord {
    if (enrollment === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
    if (enrollment.method !== method) throw new ControllerError('INVALID_ENROLL_METHOD')
    if (enrollment.expiresAt <= now) throw new ControllerError('ENROLLMENT_EXPIRED')
    return enrollment
  }
}

const CSR_REASONS = {
  missing: 'a certificate signing request is required',
  unparsable: 'not a PEM certificate signing request',
  'bad-signature': 'the request is not signed by the key that it asks to certify',
  'weak-key': 'the key is too weak or of an unsupported kind',
} as const
