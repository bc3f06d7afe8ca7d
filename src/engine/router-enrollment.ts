import { ControllerError, invalidField } from '../domain/errors.ts'
import type { CsrProblem } from '../ports/pki.ts'
import type { WriteTransaction } from '../ports/storage.ts'
import { edgeRouters } from '../resources/edge-routers.ts'
import { enrollments } from '../resources/enrollments.ts'
import type { RecordOf } from '../resources/resource.ts'
import type { Call } from './call.ts'
import { isValidAt } from './client-certificates.ts'
import type { EngineContext } from './context.ts'
import { usableEnrollment } from './enrollment.ts'
import { findOne } from './find-one.ts'
import { writeAndTell } from './writes.ts'

type Router = RecordOf<typeof edgeRouters>

/** Signing requests for the two certificates of a router, PEM. */
export interface RouterRequests {
  readonly clientCsr: string
  readonly serverCsr: string
}

/** The certificate chains of a router, leaf first, PEM. */
export interface RouterChains {
  readonly cert: string
  readonly serverCert: string
}

/** Gives routers their certificates: once by token, and from then on by the certificate that they have. */
export class RouterEnrollment {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Enrolls an edge router. Errors: `INVALID_ENROLLMENT_TOKEN`, `INVALID_ENROLL_METHOD`, `ENROLLMENT_EXPIRED`,
   * `MISSING_OR_INVALID_CSR` without one of the requests, `COULD_NOT_PROCESS_CSR`.
   */
  async byOneTimeToken(call: Call, token: string, requests: RouterRequests): Promise<RouterChains> {
    const now = this.#context.clock.now()
    const { enrollment, routerId } = await this.#context.storage.read(async (tx) => {
      const usable = await usableEnrollment(tx, token, 'erott', now)
      const router = await tx.collection(edgeRouters).get(usable.edgeRouterId ?? '')
      if (router === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      return { enrollment: usable, routerId: router.id }
    })
    if (requests.clientCsr.trim() === '' || requests.serverCsr.trim() === '') {
      throw new ControllerError('MISSING_OR_INVALID_CSR')
    }
    const issued = await this.#issue(routerId, requests, now)
    await writeAndTell(this.#context, call, async (tx) => {
      const current = await tx.collection(enrollments).get(enrollment.id)
      const router = await tx.collection(edgeRouters).get(routerId)
      if (current?.token !== enrollment.token || router === undefined) {
        throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      }
      await tx.collection(enrollments).delete(enrollment.id)
      await certify(tx, router, issued, now)
    })
    return issued
  }

  /**
   * Replaces the certificates of the router that calls with its current client certificate, which is void at once (the
   * row *Router certificates* of the interface). Errors: `UNAUTHORIZED`, `COULD_NOT_VALIDATE`, `COULD_NOT_PROCESS_CSR`.
   */
  async extend(call: Call, requests: RouterRequests): Promise<RouterChains> {
    const now = this.#context.clock.now()
    const verdict = await this.#context.pki.verifyClientChain(call.clientCertificates ?? [], now)
    if (!verdict.trusted || !isValidAt(verdict.leaf, now)) throw new ControllerError('UNAUTHORIZED')
    const { fingerprint } = verdict.leaf
    const caller = await this.#context.storage.read((tx) => findOne(tx, edgeRouters, 'fingerprint', fingerprint))
    if (caller === undefined) throw new ControllerError('UNAUTHORIZED')
    if (requests.clientCsr.trim() === '') throw invalidField('certCsr', 'client CSR is required', '')
    if (requests.serverCsr.trim() === '') throw invalidField('serverCertCsr', 'server CSR is required', '')
    const issued = await this.#issue(caller.id, requests, now)
    await writeAndTell(this.#context, call, async (tx) => {
      const router = await tx.collection(edgeRouters).get(caller.id)
      if (router?.fingerprint !== fingerprint) throw new ControllerError('UNAUTHORIZED')
      await certify(tx, router, issued, now)
    })
    return issued
  }

  async #issue(routerId: string, { clientCsr, serverCsr }: RouterRequests, now: number) {
    const { pki } = this.#context
    const spiffeId = `spiffe://${pki.trustDomain}/router/${routerId}`
    const request = { clientCsrPem: clientCsr, serverCsrPem: serverCsr, routerId, namesItself: true, spiffeId, now }
    const issued = await pki.issueRouterCertificates(request)
    if (!issued.issued) throw refusedRouterCsr(issued.of, issued.problem)
    const { client, clientChainPem, serverChainPem } = issued
    return { fingerprint: client.fingerprint, cert: clientChainPem, serverCert: serverChainPem }
  }
}

async function certify(
  tx: WriteTransaction,
  router: Router,
  { cert, fingerprint }: { readonly cert: string; readonly fingerprint: string },
  now: number,
): Promise<void> {
  const certified = {
    certPem: cert,
    fingerprint,
    isVerified: true,
    unverifiedCertPem: null,
    unverifiedFingerprint: null,
  }
  await tx.collection(edgeRouters).update({ ...router, ...certified, updatedAt: now })
}

function refusedRouterCsr(of: 'client' | 'server', problem: CsrProblem | 'wrong-name'): ControllerError {
  const message = `invalid ${of} CSR: ${problem === 'wrong-name' ? 'common name is not the id of the router' : problem}`
  return new ControllerError('COULD_NOT_PROCESS_CSR', { code: 'UNHANDLED', message })
}
