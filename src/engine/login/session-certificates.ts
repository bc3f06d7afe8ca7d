import { notFound } from '../../domain/errors.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { apiSessionCertificates } from '../../resources/login/api-session-certificates.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { type Call, callerOf } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { refusedCsr } from '../credentials/client-certificates.ts'
import { newRecord } from '../records/new-record.ts'
import { makeRoom } from '../records/room.ts'

type Certificate = RecordOf<typeof apiSessionCertificates>

const LIFETIME_MS = 12 * 60 * 60_000

/** Client certificates for the time of an API session, for callers that authenticated without one. */
export class SessionCertificates {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Issues a certificate for twelve hours, whose common name is the caller's identity and whose only alternative name
   * says identity, session and certificate. `certificate` of the answer is the chain, leaf first. Error:
   * `COULD_NOT_PROCESS_CSR`.
   */
  async create(call: Call, csrPem: string): Promise<Certificate> {
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
      await makeRoom(this.#context, tx, apiSessionCertificates, record)
      await tx.collection(apiSessionCertificates).insert(record)
    })
    return record
  }

  /** Deletes a certificate of the caller's own session. Error: `NOT_FOUND`, also for one of another session. */
  async delete(call: Call, id: string): Promise<void> {
    const { apiSession } = callerOf(call)
    await this.#context.writes.run(call, async (tx) => {
      const known = await tx.collection(apiSessionCertificates).get(id)
      if (known?.apiSessionId !== apiSession.id) throw notFound('api session certificate', id)
      await tx.collection(apiSessionCertificates).delete(id)
    })
  }
}
