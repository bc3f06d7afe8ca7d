import type { FromRouter, ToRouter } from '../../ports/fabric/index.ts'
import { routerFacts } from '../routers/router-admission.ts'
import type { FabricParts } from './fabric-parts.ts'
import type { ConnectedRouter } from './routers/connected-routers.ts'

type FactMessage = Extract<
  FromRouter,
  {
    type:
      | 'link-state'
      | 'verify-router'
      | 'link-listeners'
      | 'interfaces'
      | 'edge-hello'
      | 'connect-events'
      | 'extend-certificates'
      | 'confirm-certificate'
  }
>

/** What a router says of itself, and asks about others. */
export class RouterFacts {
  readonly #parts: FabricParts
  readonly #router: ConnectedRouter

  constructor(parts: FabricParts, router: ConnectedRouter) {
    this.#parts = parts
    this.#router = router
  }

  async handle(message: FactMessage): Promise<ToRouter | undefined> {
    const { presence, network, peers, announced, certificates } = this.#parts
    const { id } = this.#router
    switch (message.type) {
      case 'link-state':
        network.updateState(id, message.linkId, message.iteration, message)
        return undefined
      case 'verify-router':
        return this.#verify(message)
      case 'link-listeners':
        this.#router.linkListeners = message.listeners
        presence.routerReport(id, { linkListeners: message.listeners })
        peers.update(this.#router)
        return undefined
      case 'interfaces':
        presence.routerReport(id, { interfaces: message.interfaces })
        return { type: 'result', success: true, message: '' }
      case 'edge-hello': {
        const { hostname, listeners } = message
        presence.routerHello(id, { hostname, listeners, versionInfo: this.#router.software })
        if (this.#router.isEdgeRouter) await announced.tellAll(this.#router)
        return undefined
      }
      case 'connect-events':
        presence.identityConnections(id, { full: message.full, identities: message.identities })
        return undefined
      case 'extend-certificates': {
        const { clientCertCsr: clientCsr, serverCertCsr: serverCsr } = message
        const issued = await certificates.propose(id, { clientCsr, serverCsr })
        this.#router.channel.send({
          type: 'certificates',
          clientCertPem: issued.cert,
          serverCertPem: issued.serverCert,
        })
        return undefined
      }
      case 'confirm-certificate':
        return {
          type: 'certificate-confirmed',
          problem: await certificates.confirm(id, message.clientCertPem, (fingerprint) => {
            presence.routerCertified(id, fingerprint)
          }),
        }
    }
  }

  /** Whether the router that dials a link is the one that it says, by the certificate that it showed. */
  async #verify({ routerId, fingerprints }: Extract<FromRouter, { type: 'verify-router' }>): Promise<ToRouter> {
    const router = await this.#parts.context.storage.read((tx) => routerFacts(tx, routerId))
    const isOne =
      router !== undefined &&
      !router.disabled &&
      router.isVerified &&
      router.fingerprint !== null &&
      fingerprints.includes(router.fingerprint)
    return { type: 'result', success: isOne, message: isOne ? 'router verified' : 'router could not be verified' }
  }
}
