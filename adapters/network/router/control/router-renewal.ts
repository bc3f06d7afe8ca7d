import { X509Certificate } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../../../src/base/time.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { ToRouter } from '../../../../src/control-channel.ts'
import { pauseAfter } from '../../../../src/data-plane.ts'
import { processTimer, type Timer } from '../../channel/conversation.ts'
import { createRouterRequests, type RouterRequests } from '../../enrollment/created-requests.ts'
import type { ConnectedController, ControllerListener, TakesControllers } from '../state/controllers.ts'
import type { RouterCredentials } from '../state/opened-socket.ts'
import type { HeldIdentity } from './held-identity.ts'

/** The settings of the renewal of a router's certificates. */
export interface RouterRenewalSettings {
  readonly routerId: string
  readonly held: HeldIdentity
  /** The names and addresses of the router. */
  readonly hosts: readonly string[]
  /** Whether the router asks for new certificates as soon as a controller is connected, even if the present ones are valid for long. */
  readonly atOnce?: boolean
  readonly timer?: Timer
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

type Certificates = Extract<ToRouter, { type: 'certificates' }>

/** Milliseconds before the end of a certificate at which it is renewed. */
const RENEW_BEFORE_MS = 7 * DAY_MS
/** Milliseconds between checks for a due renewal; a controller that refused is asked again then. */
const RENEWAL_LOOK_MS = HOUR_MS
/** Milliseconds that a controller has for new certificates. */
const ANSWER_MS = 60_000

/** When the first of a router's certificates runs out, epoch ms. */
function expiryOf({ clientCert, serverCert }: RouterCredentials): number {
  return Math.min(...[clientCert, serverCert].map((pem) => Date.parse(new X509Certificate(pem).validTo)))
}

/**
 * Renews key and certificates of a router before they run out, and when a controller asks for it because another authority signs. A
 * controller issues new ones. The router first keeps them beside the former pair, then confirms their arrival to the controller, and then
 * keeps them alone. A lost step is tried again after a pause, and an hour later if a controller refused.
 */
export class RouterRenewal implements TakesControllers {
  readonly #settings: RouterRenewalSettings
  readonly #inner: TakesControllers
  readonly #timer: Timer
  readonly #controllers = new Set<ConnectedController>()
  /** The question that a controller has not answered yet, one at a time. */
  #asked:
    | {
        readonly controller: ConnectedController
        readonly key: RouterRequests
        readonly wanted: string | undefined
      }
    | undefined
  #isWorking = false
  /** New certificates are being kept and confirmed. */
  #isTaking = false
  #isRenewed = false
  /** The authority that the controller asked the router to renew from, and the authority of its latest certificates. */
  #wanted: string | undefined
  #got: string | undefined
  #failures = 0
  #isClosed = false
  #cancelLook: () => void = () => undefined
  #cancelRetry: () => void = () => undefined

  /** `inner` gets every message that is not about certificates. */
  constructor(settings: RouterRenewalSettings, inner: TakesControllers) {
    this.#settings = settings
    this.#inner = inner
    this.#timer = settings.timer ?? processTimer
    this.#lookLater()
  }

  connected(controller: ConnectedController): ControllerListener {
    this.#controllers.add(controller)
    const listener = this.#inner.connected(controller)
    this.#work()
    return {
      take: async (message) => {
        if (message.type === 'renew-certificates') {
          this.#wanted = message.authorityKeyId
          this.#work()
          return undefined
        }
        if (message.type !== 'certificates') return listener.take(message)
        await this.#issued(controller, message)
        return undefined
      },
      lost: () => {
        this.#controllers.delete(controller)
        // A lost controller does not answer: another controller is asked, or this one when it is back.
        if (this.#asked?.controller === controller) this.#asked = undefined
        this.#work()
        listener.lost()
      },
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelLook()
    this.#cancelRetry()
  }

  get #isDue(): boolean {
    const { atOnce = false, held } = this.#settings
    if (!held.isKept || held.pending !== undefined || (atOnce && !this.#isRenewed) || this.#wanted !== this.#got)
      return true
    return expiryOf(held.credentials) - runtime.now() < RENEW_BEFORE_MS
  }

  #lookLater(): void {
    this.#cancelLook = this.#timer(RENEWAL_LOOK_MS, () => {
      this.#asked = undefined
      this.#work()
      this.#lookLater()
    })
  }

  #retryLater(): void {
    this.#failures += 1
    this.#cancelRetry()
    this.#cancelRetry = this.#timer(pauseAfter(this.#failures, runtime.fraction()), () => this.#work())
  }

  /** Does the next due step, if any; one at a time. */
  #work(): void {
    const isBusy = this.#isWorking || this.#isTaking || this.#asked !== undefined
    if (this.#isClosed || isBusy || this.#controllers.size === 0) return
    if (!this.#isDue) return
    this.#isWorking = true
    this.#step().then(
      () => {
        this.#isWorking = false
        // A controller may have asked for another authority meanwhile.
        this.#work()
      },
      (error: unknown) => {
        this.#isWorking = false
        this.#settings.log?.('certificates.failed', { error: error instanceof Error ? error.message : String(error) })
        this.#retryLater()
      },
    )
  }

  /** Keeps what the disk refused, and has the pending certificates confirmed; asks for new certificates if that fails. */
  async #step(): Promise<void> {
    const { held } = this.#settings
    const [controller] = this.#controllers
    if (controller === undefined) return
    if (!held.isKept) await held.keepAgain()
    if (held.pending !== undefined && (await this.#confirm(controller, held.pending.clientCert))) return
    // The controller may have admitted the router by it meanwhile, which is a confirmation.
    if (this.#isDue) await this.#ask()
  }

  async #ask(): Promise<void> {
    const { routerId, hosts, log } = this.#settings
    const key = await createRouterRequests(routerId, hosts)
    // Controllers came and went while the key was made.
    const [controller] = this.#controllers
    if (controller === undefined) return
    const asked = { controller, key, wanted: this.#wanted }
    this.#asked = asked
    log?.('certificates.asked', { controllerId: controller.id })
    this.#cancelRetry()
    this.#cancelRetry = this.#timer(ANSWER_MS, () => {
      if (this.#asked !== asked) return
      this.#asked = undefined
      this.#retryLater()
    })
    const requests = { clientCertCsr: key.clientCsrPem, serverCertCsr: key.serverCsrPem }
    await controller.ask({ type: 'extend-certificates', ...requests }).catch((error: unknown) => {
      if (this.#asked === asked) this.#asked = undefined
      throw error
    })
  }

  async #issued(controller: ConnectedController, { clientCertPem, serverCertPem }: Certificates): Promise<void> {
    const { held, log } = this.#settings
    if (this.#asked?.controller !== controller) return
    const { key, wanted } = this.#asked
    this.#asked = undefined
    this.#cancelRetry()
    const pair = { key: key.keyPem, clientCert: clientCertPem, serverCert: serverCertPem }
    let isConfirmed = false
    this.#isTaking = true
    try {
      await held.propose(pair)
      isConfirmed = await this.#confirm(controller, clientCertPem)
      // Several controllers ask for the same authority.
      if (isConfirmed) this.#got = wanted
    } catch (error) {
      log?.('certificates.failed', { error: error instanceof Error ? error.message : String(error) })
      this.#retryLater()
    } finally {
      this.#isTaking = false
    }
    if (isConfirmed) this.#work()
  }

  /** Tells a controller that a certificate arrived; answers whether it is in force. Rejects without an answer. */
  async #confirm(controller: ConnectedController, clientCertPem: string): Promise<boolean> {
    const { held, log } = this.#settings
    const answer = await controller.ask({ type: 'confirm-certificate', clientCertPem })
    if (answer?.type !== 'certificate-confirmed' || answer.problem !== undefined) {
      log?.('certificates.refused', { controllerId: controller.id, answer: JSON.stringify(answer) })
      return false
    }
    this.#isRenewed = true
    this.#failures = 0
    log?.('certificates.renewed', { controllerId: controller.id })
    await held.taken(clientCertPem)
    return true
  }
}
