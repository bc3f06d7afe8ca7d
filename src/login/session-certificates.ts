import { ControllerError, notFound } from '../base/errors.ts'
import { HOUR_MS } from '../base/time.ts'
import { type Call, callerOf } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { refusedCsr } from '../credentials/certificate-holder.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { apiSessionCertificates, apiSessions } from '../facts/login/api-session.resource.ts'
import { Pem } from '../kernel/declaration/fields.ts'
import { readId, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { FindQuery, Page } from '../ports/record-storage.ts'
import { keepOwnerQuota } from '../records/owner-quota.ts'
import { newRecord, pageOf } from '../records/read-records.ts'

type Certificate = RecordOf<typeof apiSessionCertificates>

const LIFETIME_MS = 12 * HOUR_MS

/** Client certificates for the time of an API session, for callers that authenticated without one. */
export class SessionCertificates {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Issues a certificate for twelve hours, whose common name is the caller's identity and whose only alternative name says
   * identity, session and certificate. `certificate` of the answer is the chain, leaf first.
   *
   * @throws {ControllerError} COULD_NOT_PROCESS_CSR when the request cannot be read or its signature does not fit.
   * @throws {ControllerError} NOT_FOUND when the API session is over.
   */
  async create(call: Call, csrPem: string): Promise<Certificate> {
    readValue('csr', Pem, csrPem)
    const { identity, apiSession } = callerOf(call)
    const { clock, pki, random } = this.#context
    const now = clock.now()
    const id = random.id()
    const path = `identity/${identity.id}/apiSession/${apiSession.id}/apiSessionCertificate/${id}`
    const spiffeId = `spiffe://${pki.trustDomain}/${path}`
    const request = { csrPem, spiffeId, now, commonName: identity.id, lifetimeMs: LIFETIME_MS }
    const issued = await pki.issueClientCertificate(request)
    if (!issued.issued) throw refusedCsr('csr', issued.problem)
    const { fingerprint, subject, notBefore, notAfter } = issued.leaf
    const record: Certificate = newRecord(id, now, {
      apiSessionId: apiSession.id,
      certificate: issued.chainPem,
      fingerprint,
      subject,
      validFrom: notBefore,
      validTo: notAfter,
    })
    await this.#context.writes.run(call, async (tx) => {
      if ((await tx.collection(apiSessions).get(apiSession.id)) === undefined)
        throw notFound('api session', apiSession.id)
      await keepOwnerQuota(this.#context, tx, apiSessionCertificates, record)
      await tx.collection(apiSessionCertificates).insert(record)
    })
    return record
  }

  /**
   * A page of the certificates of the caller's own session: certificates that were issued for it, and the certificate
   * that the session began with, which has the id of the session.
   */
  async list(call: Call, find: FindQuery): Promise<Page<Certificate>> {
    const own = await this.#own(call)
    return pageOf(
      own.map((certificate) => ({ ...certificate, isSystem: false })),
      find,
    )
  }

  /**
   * A certificate of the caller's own session.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id, or a certificate of another session.
   */
  async get(call: Call, id: string): Promise<Certificate> {
    readId(id)
    const found = (await this.#own(call)).find((certificate) => certificate.id === id)
    if (found === undefined) throw notFound('api session certificate', id)
    return found
  }

  async #own(call: Call): Promise<readonly Certificate[]> {
    const { apiSession } = callerOf(call)
    const { storage } = this.#context
    const [issued, authenticator] = await storage.read(async (tx) => [
      (await tx.collection(apiSessionCertificates).find({ where: equals('apiSessionId', apiSession.id) })).items,
      await tx.collection(authenticators).get(apiSession.authenticatorId),
    ])
    const began = await this.#beganWith(apiSession, authenticator?.certPem ?? null)
    return began === undefined ? issued : [began, ...issued]
  }

  /** The certificate of a login is not stored a second time: it is the authenticator's. */
  async #beganWith(apiSession: RecordOf<typeof apiSessions>, pem: string | null): Promise<Certificate | undefined> {
    const read = pem === null ? [] : await this.#context.pki.readCertificates(pem)
    const [leaf] = Array.isArray(read) ? read : []
    if (leaf === undefined) return undefined
    return newRecord(apiSession.id, apiSession.createdAt, {
      apiSessionId: apiSession.id,
      certificate: leaf.pem,
      fingerprint: leaf.fingerprint,
      subject: leaf.subject,
      validFrom: leaf.notBefore,
      validTo: leaf.notAfter,
    })
  }

  /**
   * Deletes a certificate that was issued for the caller's own session.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id, or a certificate of another session.
   * @throws {ControllerError} ENTITY_CAN_NOT_BE_DELETED when the session began with it.
   */
  async delete(call: Call, id: string): Promise<void> {
    readId(id)
    const { apiSession } = callerOf(call)
    if (id === apiSession.id && (await this.#own(call)).some((certificate) => certificate.id === id)) {
      const message = 'the session began with this certificate: it is an authenticator of the identity'
      throw new ControllerError('ENTITY_CAN_NOT_BE_DELETED', { code: 'UNHANDLED', message })
    }
    await this.#context.writes.run(call, async (tx) => {
      const known = await tx.collection(apiSessionCertificates).get(id)
      if (known?.apiSessionId !== apiSession.id) throw notFound('api session certificate', id)
      await tx.collection(apiSessionCertificates).delete(id)
    })
  }
}
