import { ControllerError, invalidField } from '../../domain/errors.ts'
import { equals } from '../../domain/filter/index.ts'
import type { CertificateFacts, CsrProblem } from '../../ports/pki.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import type { EngineContext } from '../context/context.ts'

/** A certificate as an authenticator holds it. */
export interface CertificateCredential {
  readonly certPem: string
  readonly fingerprint: string
  readonly caId: string | null
}

/**
 * The credential of a certificate that somebody hands in: of the network, or of a verified third party. It may have run
 * out since. Errors: `COULD_NOT_PARSE_PEM_BLOCK` unless it is exactly one, `CERT_FAILED_VALIDATION`.
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
