import type {
  FromHolder,
  FromRouter,
  HeldRouter,
  HolderChannel,
  RouterSession,
} from '../../facts/fabric/messages/index.ts'
import type { FabricParts } from '../assemble-fabric.ts'
import type { ConnectedRouter } from '../channels/connected-routers.ts'

/** A process over the same store whose routers this one uses. */
export interface Holder {
  readonly address: string
  readonly channel: HolderChannel
}

interface Parts extends FabricParts {
  /** Begins the handling of messages of a router. */
  readonly sessionOf: (router: ConnectedRouter) => RouterSession
}

/** The messages by which a router tells what links it has. Those about circuits count by every process that holds the router. */
const IS_OF_LINKS: ReadonlySet<FromRouter['type']> = new Set(['router-links', 'link-state', 'metrics'])

/** A router that is reached by way of another process. */
interface Relayed {
  readonly holder: Holder
  readonly router: ConnectedRouter
}

/**
 * The routers that other processes over the same store hold. A router without a channel to this process is reached by way of another
 * process, and serves links and circuits like any other router.
 */
export class RelayedRouters {
  readonly #parts: Parts
  readonly #reported = new Map<Holder, Map<string, HeldRouter>>()
  readonly #relayed = new Map<string, Relayed>()
  readonly #sessions = new WeakMap<ConnectedRouter, RouterSession>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A process reports the routers that it holds, or their changes. */
  reported(holder: Holder, { isFull, held, gone }: Extract<FromHolder, { type: 'routers' }>): void {
    const known = this.#reported.get(holder) ?? new Map<string, HeldRouter>()
    this.#reported.set(holder, known)
    const named = new Set(held.map(({ id }) => id))
    const away = isFull ? [...known.keys()].filter((id) => !named.has(id)) : gone
    for (const id of away) {
      known.delete(id)
      this.reconsider(id)
    }
    for (const facts of held) {
      const before = known.get(facts.id)
      known.set(facts.id, facts)
      this.#spare(facts, before)
      this.reconsider(facts.id)
    }
  }

  /** The connection to a process is lost. */
  lost(holder: Holder): void {
    const known = this.#reported.get(holder)
    this.#reported.delete(holder)
    for (const id of known?.keys() ?? []) this.reconsider(id)
  }

  /** A router sent a message to a process that holds it, or held it until a moment ago. */
  received(holder: Holder, routerId: string, message: FromRouter): void {
    const router = this.#parts.routers.get(routerId)
    if (router === undefined) return
    // By now the router may have come here, or to a third process, and have told of other links there.
    if (IS_OF_LINKS.has(message.type) && this.#relayed.get(routerId)?.holder !== holder) return
    const session = this.#sessions.get(router) ?? this.#parts.sessionOf(router)
    this.#sessions.set(router, session)
    void session.receive(message)
  }

  /** The circuits among some that this process laid. */
  ownAmong(circuitIds: readonly string[]): readonly string[] {
    const { circuits, exchange } = this.#parts
    return circuitIds.filter((id) => circuits.get(id) !== undefined || exchange.has(id))
  }

  /** Reports whether another process holds a router, by what that process said last. */
  isOffered(routerId: string): boolean {
    return [...this.#reported.values()].some((held) => held.has(routerId))
  }

  /** Chooses the way to a router: its own channel, else a process that holds it. */
  reconsider(routerId: string): void {
    const { routers } = this.#parts
    const isHeld = routers.held(routerId) !== undefined
    const known = this.#relayed.get(routerId)
    const facts = known && this.#reported.get(known.holder)?.get(routerId)
    const isSame = facts?.connectedAt === known?.router.connectedAt && routers.get(routerId) === known?.router
    if (known !== undefined && facts !== undefined && !isHeld && isSame) {
      this.#update(known.router, facts)
      return
    }
    if (known !== undefined) this.#drop(known)
    if (isHeld) return
    const offer = [...this.#reported].flatMap(([holder, held]) => {
      const offered = held.get(routerId)
      return offered === undefined ? [] : [{ holder, facts: offered }]
    })[0]
    if (offer !== undefined) this.#add(offer.holder, offer.facts)
    else if (known !== undefined) this.#parts.peers.away(routerId)
  }

  #add(holder: Holder, facts: HeldRouter): void {
    const { routers, network, peers, ends } = this.#parts
    const { id: routerId } = facts
    const channel: ConnectedRouter['channel'] = {
      send: (message) => holder.channel.send({ type: 'to-router', routerId, message }),
      close: () => undefined,
    }
    const router: ConnectedRouter = { ...facts, channel }
    this.#relayed.set(routerId, { holder, router })
    routers.addRelayed(router)
    network.routersChanged()
    holder.channel.send({ type: 'follow', routerId, follows: true })
    ends.settle(router)
    peers.update(router)
  }

  #update(router: ConnectedRouter, { isHeard, isQuiesced, linkListeners }: HeldRouter): void {
    const { network, peers } = this.#parts
    Object.assign(router, { isHeard, isQuiesced, linkListeners })
    network.routersChanged()
    peers.update(router)
  }

  #drop({ holder, router }: Relayed): void {
    const { routers, network, exchange, routerInspections } = this.#parts
    const { id: routerId } = router
    this.#relayed.delete(routerId)
    routerInspections.forget(router)
    if (this.#reported.has(holder)) holder.channel.send({ type: 'follow', routerId, follows: false })
    if (!routers.remove(router)) return
    network.routersChanged()
    if (routers.get(routerId) === undefined) exchange.routerGone(routerId)
  }

  /** A router that holds a channel to several processes asks only one of them to spare it. */
  #spare({ id, isQuiesced }: HeldRouter, before: HeldRouter | undefined): void {
    const router = this.#parts.routers.held(id)
    if (router === undefined || isQuiesced === (before?.isQuiesced ?? false)) return
    router.isQuiesced = isQuiesced
    this.#parts.network.routersChanged()
  }
}
