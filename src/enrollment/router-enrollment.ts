import { z } from 'zod'
import { ControllerError, notFound } from '../base/errors.ts'
import { type Call, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { isValidAt } from '../credentials/certificate-holder.ts'
import { inviteToEnroll } from '../credentials/enrollment-tokens.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { readId, readRequest, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { CertificateFacts, CsrProblem } from '../ports/pki.ts'
import type { ReadTransaction, RecordKind, WriteTransaction } from '../ports/record-storage.ts'
import { findOne } from '../records/read-records.ts'
import { requireAdmission, usableEnrollment } from './enrollment.ts'

/** The fields that edge routers and transit routers have in common. */
export type EnrolledRouter = Pick<
  RecordOf<typeof transitRouters>,
  | 'id'
  | 'updatedAt'
  | 'certPem'
  | 'fingerprint'
  | 'authorityKeyId'
  | 'isVerified'
  | 'unverifiedCertPem'
  | 'unverifiedFingerprint'
>

/** The method by which a router enrolls decides its kind. */
export type RouterMethod = 'erott' | 'trott'

/** The kind of the routers that enroll by a method. */
export const ROUTER_KINDS: Readonly<Record<RouterMethod, RecordKind<EnrolledRouter>>> = {
  erott: edgeRouters,
  trott: transitRouters,
}

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

/** Gives routers their certificates: the first by token, and later ones by the current certificate. */
export class RouterEnrollment {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Enrolls a router; a transit router need not name itself in its requests.
   *
   * @throws {ControllerError} INVALID_ENROLLMENT_TOKEN when the token is unknown.
   * @throws {ControllerError} INVALID_ENROLL_METHOD when it belongs to an enrollment of another method.
   * @throws {ControllerError} ENROLLMENT_EXPIRED when it is past its time.
   * @throws {ControllerError} MISSING_OR_INVALID_CSR when an edge router lacks one of the requests.
   * @throws {ControllerError} COULD_NOT_PROCESS_CSR when one cannot be read or its signature does not fit.
   * @throws {ControllerError} INVALID_ENROLLMENT_NOT_ALLOWED when the host refuses it.
   */
  async byOneTimeToken(
    call: Call,
    method: RouterMethod,
    token: string,
    requests: RouterRequests,
  ): Promise<RouterChains> {
    readValue('method', z.enum(['erott', 'trott']), method)
    readValue('token', z.string(), token)
    readRequest(Requests, requests)
    const now = this.#context.clock.now()
    const kind = ROUTER_KINDS[method]
    const { enrollment, routerId } = await this.#context.storage.read(async (tx) => {
      const usable = await usableEnrollment(tx, token, method, now)
      const router = await tx.collection(kind).get(usable.edgeRouterId ?? usable.transitRouterId ?? '')
      if (router === undefined) throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      return { enrollment: usable, routerId: router.id }
    })
    const isMissing = requests.clientCsr.trim() === '' || requests.serverCsr.trim() === ''
    if (isMissing && method === 'erott') {
      throw new ControllerError('MISSING_OR_INVALID_CSR')
    }
    const issued = await issueRouterChains(this.#context, routerId, method, requests, now)
    await requireAdmission(this.#context, call, { method, routerId, csr: requests.clientCsr })
    await this.#context.writes.run(redeemed(call), async (tx) => {
      const current = await tx.collection(enrollments).get(enrollment.id)
      const router = await tx.collection(kind).get(routerId)
      if (current?.token !== enrollment.token || router === undefined) {
        throw new ControllerError('INVALID_ENROLLMENT_TOKEN')
      }
      await tx.collection(enrollments).delete(enrollment.id)
      await certify(tx, kind, router, issued, now)
    })
    return issued
  }

  /**
   * Replaces the certificates of the router that calls with its current client certificate, which is void at once.
   *
   * @throws {ControllerError} UNAUTHORIZED when the connection shows the certificate of no router.
   * @throws {ControllerError} COULD_NOT_PROCESS_CSR when a request cannot be read or its signature does not fit.
   */
  async extend(call: Call, requests: RouterRequests): Promise<RouterChains> {
    readRequest(Requests, requests)
    const now = this.#context.clock.now()
    const verdict = await this.#context.pki.verifyClientChain(call.clientCertificates ?? [], now)
    if (!verdict.trusted || !isValidAt(verdict.leaf, now)) throw new ControllerError('UNAUTHORIZED')
    const { fingerprint } = verdict.leaf
    const caller = await this.#context.storage.read((tx) => routerWith(tx, fingerprint))
    if (caller === undefined) throw new ControllerError('UNAUTHORIZED')
    const { id, method } = caller
    const issued = await issueRouterChains(this.#context, id, method, requests, now)
    await this.#context.writes.run(redeemed(call), async (tx) => {
      const router = await tx.collection(ROUTER_KINDS[method]).get(id)
      if (router?.fingerprint !== fingerprint) throw new ControllerError('UNAUTHORIZED')
      await certify(tx, ROUTER_KINDS[method], router, issued, now)
    })
    return issued
  }

  /**
   * Takes the certificate from an edge router and invites it to enroll anew; an outstanding token is replaced.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async reEnroll(call: Call, id: string): Promise<void> {
    await reEnrollEdgeRouter(this.#context, call, readId(id))
  }
}

const Requests = z.object({ clientCsr: z.string(), serverCsr: z.string() })

/** Issues the certificates that a router asks for. Error: `COULD_NOT_PROCESS_CSR`. */
export async function issueRouterChains(
  { pki }: EngineContext,
  routerId: string,
  method: RouterMethod,
  { clientCsr: clientCsrPem, serverCsr: serverCsrPem }: RouterRequests,
  now: number,
): Promise<RouterChains & RouterCertificate> {
  const spiffeId = `spiffe://${pki.trustDomain}/router/${routerId}`
  const namesItself = method === 'erott'
  const issued = await pki.issueRouterCertificates({ clientCsrPem, serverCsrPem, routerId, namesItself, spiffeId, now })
  if (!issued.issued) throw refusedRouterCsr(issued.of, issued.problem)
  const { client, clientChainPem, serverChainPem } = issued
  const { fingerprint, authorityKeyId } = client
  return { fingerprint, authorityKeyId, cert: clientChainPem, serverCert: serverChainPem }
}

async function routerWith(tx: ReadTransaction, fingerprint: string) {
  for (const method of ['erott', 'trott'] as const) {
    const router = await findOne(tx, ROUTER_KINDS[method], 'fingerprint', fingerprint)
    if (router !== undefined) return { id: router.id, method }
  }
  return undefined
}

/** The certificate that identifies a router, with its chain, PEM. */
interface RouterCertificate extends Pick<CertificateFacts, 'fingerprint' | 'authorityKeyId'> {
  readonly cert: string
}

/** Gives a router a certificate that it shows from now on. */
export async function certify(
  tx: WriteTransaction,
  kind: RecordKind<EnrolledRouter>,
  router: EnrolledRouter,
  { cert, fingerprint, authorityKeyId }: RouterCertificate,
  now: number,
): Promise<void> {
  const certified = {
    certPem: cert,
    fingerprint,
    authorityKeyId,
    isVerified: true,
    unverifiedCertPem: null,
    unverifiedFingerprint: null,
  }
  await tx.collection(kind).update({ ...router, ...certified, updatedAt: now })
}

function refusedRouterCsr(of: 'client' | 'server', problem: CsrProblem | 'wrong-name'): ControllerError {
  const message = `invalid ${of} CSR: ${problem === 'wrong-name' ? 'common name is not the id of the router' : problem}`
  return new ControllerError('COULD_NOT_PROCESS_CSR', { code: 'UNHANDLED', message })
}

/**
 * Takes the certificate from an edge router and invites it to enroll anew: a connected router is refused until it does,
 * and an outstanding token is replaced. Error: `NOT_FOUND`.
 */
async function reEnrollEdgeRouter(context: EngineContext, call: Call, id: string): Promise<void> {
  const now = context.clock.now()
  const enrollment = await inviteToEnroll(context, { method: 'erott', edgeRouterId: id }, now)
  await context.writes.run(call, async (tx) => {
    const router = await tx.collection(edgeRouters).get(id)
    if (router === undefined) throw notFound('edge router', id)
    const { items } = await tx.collection(enrollments).find({ where: equals('edgeRouterId', id) })
    for (const outstanding of items) await tx.collection(enrollments).delete(outstanding.id)
    await tx.collection(enrollments).insert(enrollment)
    const unverified = { certPem: null, fingerprint: null, authorityKeyId: null, isVerified: false }
    const proposed = { unverifiedCertPem: null, unverifiedFingerprint: null }
    await tx.collection(edgeRouters).update({ ...router, ...unverified, ...proposed, updatedAt: now })
  })
}
