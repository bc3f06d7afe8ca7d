import { X509Certificate } from 'node:crypto'
import type { ToRouter } from '../../../src/ports/fabric/index.ts'
import { processTimer, type Timer } from '../../channel/conversation.ts'
import { createRouterRequests, type RouterRequests } from '../../node/signing-request.ts'
import type { ConnectedController, ControllerListener, TakesControllers } from '../state/controllers.ts'
import type { RouterCredentials } from '../state/opened-socket.ts'

/** The certificates of a router, and what becomes of them. */
export interface RouterRenewalSettings {
  readonly routerId: string
  readonly credentials: () => RouterCredentials
  /** The names and addresses under which it is reached. */
  readonly hosts: readonly string[]
  /** Key and certificates are others from now on. */
  readonly renewed: (credentials: RouterCredentials) => void
  /** Asks for new ones at the first connection, however long the present ones are good. */
  readonly atOnce?: boolean
  readonly timer?: Timer
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

type Certificates = Extract<ToRouter, { type: 'certificates' }>

/** Before the end of a certificate. */
const RENEW_BEFORE_MS = 7 * 24 * 3_600_000
const LOOK_MS = 3_600_000

/** When the first of a router's certificates runs out, epoch ms. */
function expiryOf({ clientCert, serverCert }: RouterCredentials): number {
  return Math.min(...[clientCert, serverCert].map((pem) => Date.parse(new X509Certificate(pem).validTo)))
}

/**
 * Renews key and certificates of a router before they run out. A controller issues new ones, and takes them once the router
 * confirms that it has them; what goes wrong between is tried again an hour later.
 */
export class RouterRenewal implements TakesControllers {
  readonly #settings: RouterRenewalSettings
  readonly #inner: TakesControllers
  readonly #controllers = new Set<ConnectedController>()
  #pending: RouterRequests | undefined
  #isAsked = false
  #cancel: () => void = () => undefined

  /** `inner` is given everything that is not about certificates. */
  constructor(settings: RouterRenewalSettings, inner: TakesControllers) {
    this.#settings = settings
    this.#inner = inner
    this.#lookLater()
  }

  connected(controller: ConnectedController): ControllerListener {
    this.#controllers.add(controller)
    const listener = this.#inner.connected(controller)
    if (this.#isDue) void this.#ask()
    return {
      take: async (message) => {
        if (message.type !== 'certificates') return listener.take(message)
        await this.#confirm(controller, message)
        return undefined
      },
      lost: () => {
        this.#controllers.delete(controller)
        listener.lost()
      },
    }
  }

  close(): void {
    this.#cancel()
  }

  get #isDue(): boolean {
    const { atOnce = false, credentials } = this.#settings
    return (atOnce && !this.#isAsked) || expiryOf(credentials()) - Date.now() < RENEW_BEFORE_MS
  }

  #lookLater(): void {
    this.#cancel = (this.#settings.timer ?? processTimer)(LOOK_MS, () => {
      this.#pending = undefined
      if (this.#isDue) void this.#ask()
      this.#lookLater()
    })
  }

  async #ask(): Promise<void> {
    const { routerId, hosts, log } = this.#settings
    const [controller] = this.#controllers
    if (controller === undefined || this.#pending !== undefined) return
    this.#isAsked = true
    const key = await createRouterRequests(routerId, hosts)
    this.#pending = key
    log?.('certificates.asked', { controllerId: controller.id })
    const requests = { clientCertCsr: key.clientCsrPem, serverCertCsr: key.serverCsrPem }
    await controller.ask({ type: 'extend-certificates', ...requests }).catch(() => undefined)
  }

  async #confirm(controller: ConnectedController, { clientCertPem, serverCertPem }: Certificates): Promise<void> {
    const key = this.#pending
    if (key === undefined) return
    this.#pending = undefined
    const { credentials, renewed, log } = this.#settings
    const answer = await controller.ask({ type: 'confirm-certificate', clientCertPem }).catch(() => undefined)
    if (answer?.type !== 'certificate-confirmed' || answer.problem !== undefined) {
      log?.('certificates.refused', { controllerId: controller.id, answer: JSON.stringify(answer) })
      return
    }
    renewed({ ca: credentials().ca, key: key.keyPem, clientCert: clientCertPem, serverCert: serverCertPem })
    log?.('certificates.renewed', { controllerId: controller.id })
  }
}
