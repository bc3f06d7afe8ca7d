import { logFailure } from '../../context/background-failure.ts'
import type { EngineContext } from '../../context/context.ts'
import type { LinkListener, RouterChannel, RouterSoftware } from '../../facts/fabric/messages/index.ts'

/** The terms of a router's record for paths that pass it. */
export interface RouterTerms {
  readonly cost: number
  readonly noTraversal: boolean
}

/** A router whose control channel is open, in this process or in another process that passes messages on. */
export interface ConnectedRouter {
  readonly id: string
  /** Clients connect to edge routers; a transit router only forwards. */
  readonly isEdgeRouter: boolean
  readonly fingerprint: string
  readonly software: RouterSoftware
  /** The numbers of the capabilities that it announces. */
  readonly capabilities: readonly number[]
  readonly channel: RouterChannel
  /** Epoch ms. */
  readonly connectedAt: number
  /**
   * Whether it handles messages. Routers of the line 1.6 do so up to ten seconds after they resumed their channel: a circuit would reach
   * their host after the client has given up, and the host would wait in vain.
   */
  isHeard: boolean
  linkListeners: readonly LinkListener[]
  terms: RouterTerms
  /** Its operator spares it: a circuit passes it on the way to another router only where there is no other path. */
  isQuiesced: boolean
}

/**
 * The routers that this process reaches: routers with a channel to it, and routers whose channel another process over the same store holds.
 * The own channel is used where a router has both.
 */
export class ConnectedRouters {
  readonly #held = new Map<string, ConnectedRouter>()
  readonly #relayed = new Map<string, ConnectedRouter>()

  /** The number of routers, relayed routers included. */
  get size(): number {
    return this.#held.size + this.#relayed.size
  }

  /** A router by its own channel or by way of another process. */
  get(id: string): ConnectedRouter | undefined {
    return this.#held.get(id) ?? this.#relayed.get(id)
  }

  /** A router that holds a channel to this process. */
  held(id: string): ConnectedRouter | undefined {
    return this.#held.get(id)
  }

  /** Every router, with or without a channel to this process. */
  all(): readonly ConnectedRouter[] {
    return [...this.#held.values(), ...[...this.#relayed.values()].filter(({ id }) => !this.#held.has(id))]
  }

  /** The routers that hold a channel to this process. */
  allHeld(): readonly ConnectedRouter[] {
    return [...this.#held.values()]
  }

  /** The edge routers that hold a channel to this process. */
  heldEdgeRouters(): readonly ConnectedRouter[] {
    return this.allHeld().filter(({ isEdgeRouter }) => isEdgeRouter)
  }

  /** Every router except `id`. */
  others(id: string): readonly ConnectedRouter[] {
    return this.all().filter((router) => router.id !== id)
  }

  add(router: ConnectedRouter): void {
    this.#held.set(router.id, router)
  }

  /** A router is reached by way of another process, as long as it holds no channel to this one. */
  addRelayed(router: ConnectedRouter): void {
    this.#relayed.set(router.id, router)
  }

  /** Forgets a router unless it is connected anew by now; answers whether it was known. */
  remove(router: ConnectedRouter): boolean {
    const { id } = router
    if (this.#held.get(id) === router) return this.#held.delete(id)
    return this.#relayed.get(id) === router && this.#relayed.delete(id)
  }
}

type Telling = () => Promise<void>

/** More messages than a router waits for at once. */
const MOST_OWED = 100

/**
 * Messages that routers wait for without asking, or after asking once: each is tried until it succeeds, because the storage may be
 * unreachable for a while.
 */
export class Owed {
  readonly #context: EngineContext
  /** By kind of message: only the latest of each kind counts. */
  readonly #debts = new Map<ConnectedRouter, Map<string, Telling>>()
  readonly #away = new WeakSet<ConnectedRouter>()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Sends a connected router a message now, or later if that fails; never rejects. */
  async tell(router: ConnectedRouter, what: string, telling: Telling): Promise<void> {
    const debts = this.#debts.get(router) ?? new Map<string, Telling>()
    debts.delete(what)
    try {
      await telling()
    } catch (error) {
      const facts = { routerId: router.id, what }
      logFailure(this.#context.logger, 'a router could not be told something: it is tried again', error, facts)
      const hasRoom = debts.size < MOST_OWED && !debts.has(what)
      if (hasRoom && !this.#away.has(router)) this.#debts.set(router, debts.set(what, telling))
    }
  }

  /** Repeats every attempt that failed. */
  async tryAgain(): Promise<void> {
    for (const [router, debts] of [...this.#debts]) {
      this.#debts.delete(router)
      for (const [what, telling] of debts) await this.tell(router, what, telling)
    }
  }

  /** The router is gone. */
  forget(router: ConnectedRouter): void {
    this.#away.add(router)
    this.#debts.delete(router)
  }
}
