import { ControllerError, notFound } from '../base/errors.ts'
import { type Call, callerOf } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { refusedCsr } from '../credentials/certificate-holder.ts'
import { withCertificate } from '../credentials/login-basis.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { Pem } from '../kernel/declaration/fields.ts'
import { readId, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'

type Authenticator = RecordOf<typeof authenticators>

/**
 * Lets an identity renew a certificate that the network issued. The connection must be made with the current
 * certificate, which stays valid until the new one is confirmed.
 */
export class CertificateExtension {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Issues the next certificate and answers its chain, leaf first, PEM.
   *
   * @throws {ControllerError} COULD_NOT_PROCESS_CSR when the request cannot be read or its signature does not fit.
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} UNAUTHORIZED when it belongs to another identity, or the connection shows no certificate.
   * @throws {ControllerError} CAN_NOT_UPDATE_AUTHENTICATOR when it is no certificate of the network, or another request
   *   changed it meanwhile.
   */
  async extend(call: Call, id: string, csrPem: string): Promise<string> {
    readValue('clientCertCsr', Pem, csrPem)
    readId(id)
    const { clock, pki } = this.#context
    const now = clock.now()
    const current = await this.#extendable(call, id)
    const spiffeId = `spiffe://${pki.trustDomain}/identity/${current.identityId}`
    const issued = await pki.issueClientCertificate({ csrPem, spiffeId, now })
    if (!issued.issued) throw refusedCsr('clientCertCsr', issued.problem)
    const { pem: unverifiedPem, fingerprint: unverifiedFingerprint } = issued.leaf
    await this.#update(call, current, { unverifiedPem, unverifiedFingerprint, updatedAt: now })
    return issued.chainPem
  }

  /**
   * Confirms that the next certificate arrived: from now on it alone authenticates.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} UNAUTHORIZED when it belongs to another identity, or the connection shows no certificate.
   * @throws {ControllerError} CAN_NOT_UPDATE_AUTHENTICATOR when it is no certificate of the network, or another request
   *   changed it meanwhile.
   * @throws {ControllerError} INVALID_CLIENT_CERT when it is not the issued certificate.
   */
  async verify(call: Call, id: string, certPem: string): Promise<void> {
    readValue('clientCert', Pem, certPem)
    readId(id)
    const { clock, pki } = this.#context
    const current = await this.#extendable(call, id)
    if (current.unverifiedFingerprint === null) throw new ControllerError('CAN_NOT_UPDATE_AUTHENTICATOR')
    const certificates = await pki.readCertificates(certPem)
    const [next] = typeof certificates === 'string' ? [] : certificates
    if (next?.fingerprint !== current.unverifiedFingerprint) throw new ControllerError('INVALID_CLIENT_CERT')
    const before = await pki.readCertificates(current.certPem ?? '')
    const [previous] = typeof before === 'string' ? [] : before
    await this.#update(
      call,
      current,
      {
        certPem: next.pem,
        fingerprint: next.fingerprint,
        authorityKeyId: next.authorityKeyId,
        unverifiedPem: null,
        unverifiedFingerprint: null,
        isExtendRequested: false,
        isKeyRollRequested: false,
        lastExtendRolledKeys: previous?.publicKey !== next.publicKey,
        updatedAt: clock.now(),
      },
      async (tx) => {
        // The holder's session goes on with the next certificate; other sessions that began with the earlier one end.
        const session = await tx.collection(apiSessions).get(callerOf(call).apiSession.id)
        if (session?.authenticatorId !== id) return
        const basis = withCertificate(session.basis, next.fingerprint, next.notAfter)
        await tx.collection(apiSessions).update({ ...session, basis })
      },
    )
  }

  async #extendable(call: Call, id: string): Promise<Authenticator> {
    const { clock, pki, storage } = this.#context
    const { identity } = callerOf(call)
    const chain = call.clientCertificates ?? []
    if (chain.length === 0) throw new ControllerError('UNAUTHORIZED')
    const known = await storage.read((tx) => tx.collection(authenticators).get(id))
    if (known === undefined) throw notFound('authenticator', id)
    if (known.identityId !== identity.id) throw new ControllerError('UNAUTHORIZED')
    if (known.method !== 'cert' || !known.isIssuedByNetwork) throw new ControllerError('CAN_NOT_UPDATE_AUTHENTICATOR')
    const verdict = await pki.verifyClientChain(chain, clock.now())
    if (!verdict.trusted || verdict.leaf.fingerprint !== known.fingerprint) throw new ControllerError('UNAUTHORIZED')
    return known
  }

  async #update(
    call: Call,
    seen: Authenticator,
    change: Partial<Authenticator>,
    andThen?: (tx: WriteTransaction) => Promise<void>,
  ): Promise<void> {
    await this.#context.writes.run(call, async (tx) => {
      const current = await tx.collection(authenticators).get(seen.id)
      if (current === undefined) throw notFound('authenticator', seen.id)
      const isSame =
        current.fingerprint === seen.fingerprint && current.unverifiedFingerprint === seen.unverifiedFingerprint
      if (!isSame) throw new ControllerError('CAN_NOT_UPDATE_AUTHENTICATOR')
      await tx.collection(authenticators).update({ ...current, ...change })
      await andThen?.(tx)
    })
  }
}
