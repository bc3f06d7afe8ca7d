import type { FromRouter, Misbehaviour, RouterAlert, ToRouter } from '../facts/fabric/messages/index.ts'
import { ReportedClock } from '../routers/reported-clock.ts'
import { routerFacts } from '../routers/router-admission.ts'
import type { FabricParts } from './assemble-fabric.ts'
import {
  boundedAlerts,
  boundedHello,
  boundedIdentities,
  boundedInterfaces,
  boundedLinkListeners,
} from './channels/bounded-reports.ts'
import type { ConnectedRouter } from './channels/connected-routers.ts'

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
      | 'alerts'
      | 'controllers'
      | 'quiesce'
      | 'dequiesce'
      | 'decommission'
      | 'unsupported'
      | 'extend-certificates'
      | 'confirm-certificate'
  }
>

interface FactPorts {
  /** The message that names the controllers. */
  readonly controllers: () => ToRouter
  readonly misbehaved: (what: Misbehaviour) => void
}

/** The reports of a router about itself, and its questions about others. */
export class RouterFacts {
  readonly #parts: FabricParts
  readonly #router: ConnectedRouter
  readonly #controllers: () => ToRouter
  readonly #misbehaved: (what: Misbehaviour) => void
  readonly #clock = new ReportedClock()

  constructor(parts: FabricParts, router: ConnectedRouter, ports: FactPorts) {
    this.#parts = parts
    this.#router = router
    this.#controllers = ports.controllers
    this.#misbehaved = ports.misbehaved
  }

  async handle(message: FactMessage): Promise<ToRouter | undefined> {
    const { presence, network, peers, announced, certificates, owed } = this.#parts
    const { id } = this.#router
    switch (message.type) {
      case 'link-state':
        if (!network.updateState(id, message.linkId, message.iteration, message)) this.#misbehaved('foreign-link')
        return undefined
      case 'verify-router':
        return this.#verify(message)
      case 'link-listeners':
        this.#router.linkListeners = boundedLinkListeners(message.listeners)
        presence.routerReport(id, { linkListeners: this.#router.linkListeners })
        peers.update(this.#router)
        this.#parts.relays.changed(this.#router)
        return undefined
      case 'interfaces':
        presence.routerReport(id, { interfaces: boundedInterfaces(message.interfaces) })
        return { type: 'result', success: true, message: '' }
      case 'edge-hello': {
        const { hostname, listeners } = boundedHello(message)
        presence.routerHello(id, { hostname, listeners, versionInfo: this.#router.software })
        if (this.#router.isEdgeRouter) {
          await owed.tell(this.#router, 'api-sessions', () => announced.tellAll(this.#router))
        }
        return undefined
      }
      case 'connect-events':
        presence.identityConnections(id, { full: message.full, identities: boundedIdentities(message.identities) })
        return undefined
      case 'alerts':
        this.#tellAlerts(message.alerts)
        return undefined
      case 'controllers':
        return this.#controllers()
      case 'quiesce':
        await this.#parts.hosted.quiesce(id)
        this.#setQuiesced(true)
        void this.#parts.rerouting.around(id)
        return { type: 'result', success: true, message: 'router quiesced' }
      case 'dequiesce':
        await this.#parts.hosted.dequiesce(id)
        this.#setQuiesced(false)
        return { type: 'result', success: true, message: 'router dequiesced' }
      case 'decommission':
        // Traffic takes another path, where there is one, while this router still carries it.
        this.#setQuiesced(true)
        await this.#parts.rerouting.around(id)
        await this.#parts.decommission(id, this.#router.isEdgeRouter)
        return undefined
      case 'unsupported':
        return { type: 'result', success: false, message: `this controller does not ${message.what}` }
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

  /** The router sent a report at this instant by its own clock (epoch ms). */
  sentAt(instant: number | undefined): void {
    const { presence, context } = this.#parts
    const clockAheadMs = instant === undefined ? undefined : this.#clock.take(instant, context.clock.now())
    if (clockAheadMs !== undefined) presence.routerReport(this.#router.id, { clockAheadMs })
  }

  #setQuiesced(isQuiesced: boolean): void {
    this.#router.isQuiesced = isQuiesced
    this.#parts.network.routersChanged()
    this.#parts.relays.changed(this.#router)
  }

  #tellAlerts(alerts: readonly RouterAlert[]): void {
    const { events, clock } = this.#parts.context
    const routerId = this.#router.id
    for (const alert of boundedAlerts(alerts)) events.emit('router.alert', { ...alert, routerId, at: clock.now() })
  }

  /** Verifies the router that dials a link by the certificate that it showed. */
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
