import { X509Certificate } from 'node:crypto'
import type { ToRouter } from '../../../../src/facts/fabric/messages/index.ts'
import { processTimer, type Timer } from '../../channel/conversation.ts'
import { createRouterRequests, type RouterRequests } from '../../enrollment/signing-request.ts'
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
  /** Asks for new ones as soon as a controller is connected, however long the present ones are good, until it has them. */
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
  /** The question that a controller has not answered yet, one at a time. */
  #pending: { readonly controller: ConnectedController; readonly key: RouterRequests } | undefined
  #isAsking = false
  #isRenewed = false
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
        // It answers no more: another one is asked, or this one when it is back.
        if (this.#pending?.controller === controller) this.#pending = undefined
        if (this.#isDue) void this.#ask()
        listener.lost()
      },
    }
  }

  close(): void {
    this.#cancel()
  }

  get #isDue(): boolean {
    const { atOnce = false, credentials } = this.#settings
    return (atOnce && !this.#isRenewed) || expiryOf(credentials()) - Date.now() < RENEW_BEFORE_MS
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
    if (this.#controllers.size === 0 || this.#pending !== undefined || this.#isAsking) return
    this.#isAsking = true
    const key = await createRouterRequests(routerId, hosts)
    this.#isAsking = false
    // Controllers came and went while the key was made.
    const [controller] = this.#controllers
    if (controller === undefined) return
    this.#pending = { controller, key }
    log?.('certificates.asked', { controllerId: controller.id })
    const requests = { clientCertCsr: key.clientCsrPem, serverCertCsr: key.serverCsrPem }
    await controller.ask({ type: 'extend-certificates', ...requests }).catch(() => undefined)
  }

  async #confirm(controller: ConnectedController, { clientCertPem, serverCertPem }: Certificates): Promise<void> {
    if (this.#pending?.controller !== controller) return
    const { key } = this.#pending
    this.#pending = undefined
    const { credentials, renewed, log } = this.#settings
    const answer = await controller.ask({ type: 'confirm-certificate', clientCertPem }).catch(() => undefined)
    if (answer?.type !== 'certificate-confirmed' || answer.problem !== undefined) {
      log?.('certificates.refused', { controllerId: controller.id, answer: JSON.stringify(answer) })
      return
    }
    this.#isRenewed = true
    renewed({ ca: credentials().ca, key: key.keyPem, clientCert: clientCertPem, serverCert: serverCertPem })
    log?.('certificates.renewed', { controllerId: controller.id })
  }
}
