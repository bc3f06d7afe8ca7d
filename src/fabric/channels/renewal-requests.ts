import type { EngineContext } from '../../context/context.ts'
import { ROUTER_CAPABILITY } from '../../facts/routers/capabilities.rules.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../../facts/routers/transit-router.resource.ts'
import type { ConnectedRouter, ConnectedRouters, Owed } from './connected-routers.ts'

/**
 * Asks the routers that are connected here to renew their certificates, where another authority signs by now: when it begins to,
 * and when such a router connects. Deployed routers take no such request.
 */
export class RenewalRequests {
  readonly #context: EngineContext
  readonly #owed: Owed

  constructor(context: EngineContext, routers: ConnectedRouters, owed: Owed) {
    this.#context = context
    this.#owed = owed
    context.events.on('pki.changed', () => {
      for (const router of routers.allHeld()) this.consider(router)
    })
  }

  /** Asks a router for a renewal if a former authority issued its certificate. The question is asked again after a failure of the storage. */
  consider(router: ConnectedRouter): void {
    if (!router.capabilities.includes(ROUTER_CAPABILITY.renewsWhenAsked)) return
    void this.#owed.tell(router, 'renewal', () => this.#ask(router))
  }

  async #ask({ id, channel }: ConnectedRouter): Promise<void> {
    const { keys, pki, storage } = this.#context
    const known = await storage.read(
      async (tx) => (await tx.collection(edgeRouters).get(id)) ?? (await tx.collection(transitRouters).get(id)),
    )
    const { keyId: configured } = keys.configured
    const authorityKeyId = pki.issuerKeyId ?? configured
    if (known === undefined || (known.authorityKeyId ?? configured) === authorityKeyId) return
    channel.send({ type: 'renew-certificates', authorityKeyId })
  }
}
