import { z } from 'zod'
import { ControllerError, notFound } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { isValidAt } from '../credentials/certificate-holder.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { readId, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { CertificateFacts, CertificateProblem } from '../ports/pki.ts'

type Ca = RecordOf<typeof cas>

/** The operations of third-party certificate authorities beside their management. */
export class CertificateAuthorities {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Proves control of an authority: it signed a certificate whose common name is the verification token.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} CA_ALREADY_VERIFIED when it is verified.
   * @throws {ControllerError} COULD_NOT_PARSE_BODY when the text is no PEM.
   * @throws {ControllerError} EXPECTED_PEM_CERTIFICATE when it is the PEM of something else.
   * @throws {ControllerError} COULD_NOT_PARSE_DER_BLOCK when there is no certificate in it.
   * @throws {ControllerError} INVALID_COMMON_NAME when its common name is not the verification token.
   * @throws {ControllerError} CERTIFICATE_FAILED_VALIDATION when the authority did not sign it.
   */
  async verify(call: Call, id: string, certPem: string): Promise<void> {
    readValue('certPem', z.string(), certPem)
    const { clock, pki } = this.#context
    const now = clock.now()
    const ca = await this.#get(id)
    if (ca.isVerified) throw new ControllerError('CA_ALREADY_VERIFIED')
    const certificate = firstOf(await pki.readCertificates(certPem))
    if (certificate.commonName !== ca.verificationToken) throw new ControllerError('INVALID_COMMON_NAME')
    if (!isValidAt(certificate, now) || !(await pki.isIssuedByThirdParty(certificate.der, ca, now))) {
      throw new ControllerError('CERTIFICATE_FAILED_VALIDATION')
    }
    await this.#context.writes.run(call, async (tx) => {
      const current = await tx.collection(cas).get(id)
      if (current === undefined) throw notFound('ca', id)
      if (current.isVerified) throw new ControllerError('CA_ALREADY_VERIFIED')
      if (current.certPem !== ca.certPem) throw new ControllerError('CERTIFICATE_FAILED_VALIDATION')
      await tx.collection(cas).update({ ...current, isVerified: true, updatedAt: now })
    })
  }

  /**
   * The token with which the holders of an authority's certificates enroll by themselves.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async enrollmentJwt(id: string): Promise<string> {
    const ca = await this.#get(id)
    const { settings, tokens } = this.#context
    const iss = `https://${settings.address}/`
    return tokens.sign({ iss, sub: ca.id, aud: ['openziti-enroller'], jti: ca.id, em: 'ca' })
  }

  async #get(id: string): Promise<Ca> {
    readId(id)
    const ca = await this.#context.storage.read((tx) => tx.collection(cas).get(id))
    if (ca === undefined) throw notFound('ca', id)
    return ca
  }
}

const PROBLEMS = {
  'no-pem': 'COULD_NOT_PARSE_BODY',
  'not-a-certificate': 'EXPECTED_PEM_CERTIFICATE',
  malformed: 'COULD_NOT_PARSE_DER_BLOCK',
} as const

function firstOf(certificates: readonly CertificateFacts[] | CertificateProblem): CertificateFacts {
  if (typeof certificates === 'string') throw new ControllerError(PROBLEMS[certificates])
  const [first] = certificates
  if (first === undefined) throw new ControllerError('COULD_NOT_PARSE_BODY')
  return first
}
