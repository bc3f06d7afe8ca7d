import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { CertificateConfirmation } from '../facts/fabric/messages/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import {
  certify,
  issueRouterChains,
  ROUTER_KINDS,
  type RouterChains,
  type RouterMethod,
  type RouterRequests,
} from './router-enrollment.ts'

/** Renews the certificates of connected routers: the current certificate is valid until the new one is confirmed. */
export class RouterCertificates {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Issues the next certificates of a router, which confirms their arrival by {@link confirm}. */
  async propose(routerId: string, requests: RouterRequests): Promise<RouterChains> {
    const now = this.#context.clock.now()
    const method = await this.#context.storage.read((tx) => methodOf(tx, routerId))
    const issued = await issueRouterChains(this.#context, routerId, method, requests, now)
    await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const router = await tx.collection(ROUTER_KINDS[method]).get(routerId)
      if (router === undefined) return
      const unverified = { unverifiedCertPem: issued.cert, unverifiedFingerprint: issued.fingerprint }
      await tx.collection(ROUTER_KINDS[method]).update({ ...router, ...unverified, updatedAt: now })
    })
    return issued
  }

  /**
   * Confirms that the certificate reached the router: from now on it alone is valid. `willChange` gets its fingerprint
   * before. Answers the problem, if any.
   */
  async confirm(
    routerId: string,
    certPem: string,
    willChange: (fingerprint: string) => void,
  ): Promise<CertificateConfirmation | undefined> {
    if (certPem.trim() === '') return 'MISSING_CLIENT_PEM'
    const certificates = await this.#context.pki.readCertificates(certPem)
    const [leaf] = typeof certificates === 'string' ? [] : certificates
    if (leaf === undefined) return 'INVALID_CLIENT_PEM'
    const method = await this.#context.storage.read((tx) => methodOf(tx, routerId))
    return this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      const router = await tx.collection(ROUTER_KINDS[method]).get(routerId)
      if (router === undefined) return 'ROUTER_NOT_FOUND'
      const { unverifiedCertPem: cert, unverifiedFingerprint: fingerprint } = router
      if (cert === null || fingerprint === null) return 'INVALID_ROUTER_STATE'
      if (fingerprint !== leaf.fingerprint) return 'VERIFY_ERROR'
      willChange(fingerprint)
      const { authorityKeyId } = leaf
      const certificate = { cert, fingerprint, authorityKeyId }
      await certify(tx, ROUTER_KINDS[method], router, certificate, this.#context.clock.now())
      return undefined
    })
  }
}

async function methodOf(tx: ReadTransaction, routerId: string): Promise<RouterMethod> {
  return (await tx.collection(ROUTER_KINDS.erott).get(routerId)) === undefined ? 'trott' : 'erott'
}
