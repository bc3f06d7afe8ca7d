import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { ToRouter } from '../../../../src/control-channel.ts'
import type { ControllerListener, TakesControllers } from '../state/controllers.ts'
import { dialedHost, type OpensStream } from '../state/opened-socket.ts'
import { type ControlChannel, dialController, type RouterIntroduction } from './controller-channel.ts'
import type { HeldIdentity } from './held-identity.ts'

/** The settings of a router's connections to its controllers. */
export interface ControlConnectionsSettings {
  readonly router: RouterIntroduction
  /** The certificates that it shows in turn until a controller takes one, kept for the next start. */
  readonly held: HeldIdentity
  /** The addresses of controllers, such as `tls:controller.example.org:6262`. */
  readonly addresses: readonly string[]
  /** Opens the sockets to controllers. Default: TLS. */
  readonly openStream?: OpensStream
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

type Addresses = Extract<ToRouter, { type: 'controller-addresses' }>

/** Milliseconds between two tries, from the first to the longest: a controller that restarts finds its routers soon. */
const FIRST_RETRY_MS = 500
const MOST_RETRY_MS = 60_000
/** Addresses that a controller may name. */
const MOST_ADDRESSES = 64

/** One address, and the state of its connection. */
interface Place {
  channel: ControlChannel | undefined
  failures: number
  /** Whether the router introduces itself in the form of the line 1.6. */
  isOfOldLine: boolean
  /** The number of the certificate that it showed last. */
  candidate: number
  cancel: () => void
}

/** Keeps one channel to every controller of a network, and follows the addresses that controllers announce. */
export class ControlConnections {
  readonly #settings: ControlConnectionsSettings
  readonly #router: TakesControllers
  readonly #places = new Map<string, Place>()
  readonly #indexes = new Map<string, number>()
  #isClosed = false

  constructor(settings: ControlConnectionsSettings, router: TakesControllers) {
    this.#settings = settings
    this.#router = router
    for (const address of settings.addresses) this.#add(address)
  }

  /** The ids of the controllers that are connected. */
  get connected(): readonly string[] {
    return [...this.#places.values()].flatMap(({ channel }) => (channel === undefined ? [] : [channel.id]))
  }

  /** Asks every controller to lead circuits around the router. Never rejects: a controller that fails to answer is not waited for. */
  async quiesce(): Promise<void> {
    const channels = [...this.#places.values()].flatMap(({ channel }) => channel ?? [])
    await Promise.allSettled(channels.map((channel) => channel.ask({ type: 'quiesce' })))
  }

  close(): void {
    this.#isClosed = true
    for (const { channel, cancel } of this.#places.values()) {
      cancel()
      channel?.close()
    }
    this.#places.clear()
  }

  #add(address: string): void {
    if (this.#places.has(address) || this.#places.size >= MOST_ADDRESSES) return
    dialedHost(address)
    const place: Place = { channel: undefined, failures: 0, isOfOldLine: false, candidate: 0, cancel: () => undefined }
    this.#places.set(address, place)
    void this.#connect(address, place)
  }

  async #connect(address: string, place: Place): Promise<void> {
    const { router, held, openStream, log } = this.#settings
    const { candidates } = held
    const credentials = candidates[place.candidate % candidates.length] ?? held.credentials
    try {
      const channel = await dialController(address, router, credentials, { isOfOldLine: place.isOfOldLine, openStream })
      if (this.#isClosed || this.#places.get(address) !== place) return channel.close()
      // One controller may have several addresses, and accepts one connection of its router.
      if (this.connected.includes(channel.id)) {
        channel.close()
        return this.#retry(address, place)
      }
      place.channel = channel
      place.failures = 0
      log?.('controller.connected', { address, controllerId: channel.id })
      const lost = () => {
        place.channel = undefined
        if (!channel.hasSpoken) {
          // Controllers of the line 1.6 accept the newer hello with any certificate, and then close without an answer.
          if (place.isOfOldLine) place.candidate += 1
          place.isOfOldLine = !place.isOfOldLine
        }
        log?.('controller.lost', { address, controllerId: channel.id })
        this.#retry(address, place)
      }
      // Its first message shows that it takes the certificate.
      const spoken = () => {
        place.candidate = 0
        this.#kept(held.taken(credentials.clientCert))
      }
      channel.begin(this.#following(channel, this.#router.connected(channel)), lost, spoken)
    } catch (error) {
      place.candidate += 1
      log?.('controller.not-reached', { address, error: error instanceof Error ? error.message : String(error) })
      this.#retry(address, place)
    }
  }

  /** The router goes on with state that could not be kept; only its next start lacks it. */
  #kept(keeping: Promise<void>): void {
    keeping.catch((error: unknown) => this.#settings.log?.('identity.not-kept', { error: String(error) }))
  }

  #retry(address: string, place: Place): void {
    if (this.#isClosed || this.#places.get(address) !== place) return
    const delayMs = Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(place.failures, 10))
    place.failures += 1
    const waitMs = delayMs * (0.5 + runtime.fraction())
    place.cancel = runtime.timer(waitMs, () => void this.#connect(address, place), true)
  }

  /** The router's listener, which also gets the addresses that its controller announces. */
  #following(channel: ControlChannel, listener: ControllerListener): ControllerListener {
    return {
      lost: () => listener.lost(),
      unread: (contentType, error) => {
        this.#settings.log?.('controller.unread', { controllerId: channel.id, contentType, error: String(error) })
      },
      take: async (message) => {
        if (message.type !== 'controller-addresses') return listener.take(message)
        this.#follow(channel, message)
        return undefined
      },
    }
  }

  #follow(channel: ControlChannel, { index, isComplete, controllers }: Addresses): void {
    if (index < (this.#indexes.get(channel.id) ?? 0)) return
    this.#indexes.set(channel.id, index)
    const told = controllers.flatMap(({ addresses }) => addresses).filter((address) => address.startsWith('tls:'))
    // An empty list is a mistake: the router would be lost for ever.
    if (told.length === 0) return
    for (const address of told) this.#add(address)
    if (isComplete) {
      for (const [address, { channel: open, cancel }] of this.#places) {
        if (told.includes(address) || open !== undefined) continue
        cancel()
        this.#places.delete(address)
      }
    }
    this.#kept(this.#settings.held.moveTo([...this.#places.keys()]))
  }
}
