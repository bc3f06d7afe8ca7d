import type { EngineContext } from '../../context/context.ts'
import type { ConnectedRouter } from './connected-routers.ts'

type Telling = () => Promise<void>

/** More things than a router asks for at once. */
const MOST_OWED = 100

/** What routers wait for that asked nothing, or ask once: it is tried until it works, as the storage may be away for a while. */
export class Owed {
  readonly #context: EngineContext
  /** By what is owed, of which the latest counts. */
  readonly #debts = new Map<ConnectedRouter, Map<string, Telling>>()
  readonly #away = new WeakSet<ConnectedRouter>()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Tells a connected router something now, or later where that fails; never rejects. */
  async tell(router: ConnectedRouter, what: string, telling: Telling): Promise<void> {
    const debts = this.#debts.get(router) ?? new Map<string, Telling>()
    debts.delete(what)
    try {
      await telling()
    } catch (error) {
      const facts = { routerId: router.id, what, error: String(error) }
      this.#context.logger.error('a router could not be told something: it is tried again', facts)
      const hasRoom = debts.size < MOST_OWED && !debts.has(what)
      if (hasRoom && !this.#away.has(router)) this.#debts.set(router, debts.set(what, telling))
    }
  }

  /** Tries everything again that failed. */
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
