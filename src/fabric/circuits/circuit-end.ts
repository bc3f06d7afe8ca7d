import { BoundedMap } from '../../base/collections.ts'
import type { EngineContext } from '../../context/context.ts'
import { type CircuitEnd, closed, routersOf } from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'
import { type Circuit, factsOf, type OpenCircuits, wayOf } from './open-circuits.ts'

/** How many routers are remembered that were away when a circuit ended that they carry, and how many circuits of each. */
const MOST_AWAY = 1000
const MOST_MISSED = 20_000

/**
 * Milliseconds that a circuit goes on behind the known end of its rights while the storage gives no answer. Nothing can have renewed
 * them meanwhile but what another process wrote: a failover of the database takes less.
 */
const UNANSWERED_MS = 60_000

/** Sets when (epoch ms) the rights of a circuit end by themselves, as far as is known; never without an instant. */
export function setRightsEnd({ timetable }: EngineContext, circuitId: string, at: number | undefined): void {
  timetable.set('circuit-right', circuitId, at)
  timetable.set('circuit-unanswered', circuitId, at === undefined ? undefined : at + UNANSWERED_MS)
}

/**
 * Ends circuits: routers forget them, at once or once they are quiet, and the host gets the reason. A router that is away goes on carrying
 * its circuits: it is notified when it comes back.
 */
export class CircuitEnds {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #circuits: OpenCircuits
  /** Circuits that routers which are away are to forget, by the routers' ids. */
  readonly #missed = new BoundedMap<string, Set<string>>(MOST_AWAY)

  constructor(context: EngineContext, routers: ConnectedRouters, circuits: OpenCircuits) {
    this.#context = context
    this.#routers = routers
    this.#circuits = circuits
  }

  /** Ends a circuit, if it is still open. `now` drops data under way; otherwise the data still arrives. */
  end(circuit: Circuit, reason: CircuitEnd, now: boolean): void {
    if (!this.#circuits.remove(circuit)) return
    setRightsEnd(this.#context, circuit.id, undefined)
    const routers = routersOf(circuit.course)
    const { path } = circuit.course
    circuit.course = closed(circuit.course, reason)
    this.unroute(circuit.id, routers, now)
    const facts = factsOf(circuit, this.#context.clock.now())
    const way = wayOf(circuit, path)
    this.#context.events.emit('circuit.closed', { ...facts, ...way, reason, openedAt: circuit.createdAt })
  }

  /** Tells routers to forget a circuit, known here or not. */
  unroute(circuitId: string, routerIds: Iterable<string>, now: boolean): void {
    for (const id of routerIds) {
      const router = this.#routers.get(id)
      if (router === undefined) this.#keep(id, circuitId)
      else router.channel.send({ type: 'unroute', circuitId, now })
    }
  }

  /** A router is back: before any other request it must forget the circuits that ended while it was away. */
  settle({ id, channel }: ConnectedRouter): void {
    for (const circuitId of this.#missed.get(id) ?? []) channel.send({ type: 'unroute', circuitId, now: true })
    this.#missed.delete(id)
  }

  #keep(routerId: string, circuitId: string): void {
    const missed = this.#missed.get(routerId) ?? new Set<string>()
    this.#missed.set(routerId, missed.add(circuitId))
    const [oldest] = missed
    if (missed.size > MOST_MISSED && oldest !== undefined) missed.delete(oldest)
  }
}
