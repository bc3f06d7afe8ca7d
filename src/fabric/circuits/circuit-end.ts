import { BoundedMap } from '../../base/collections.ts'
import type { EngineContext } from '../../context/context.ts'
import { type CircuitEnd, closed, routersOf } from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouter, ConnectedRouters } from '../channels/connected-routers.ts'
import { type Circuit, factsOf, type OpenCircuits, wayOf } from './open-circuits.ts'

/** How many routers are remembered that may not know of the end of a circuit that they carry, and how many circuits of each. */
const MOST_ROUTERS = 1000
const MOST_MISSED = 20_000
/** Milliseconds within which a message may have been lost with its channel: a channel without an answer is closed earlier. */
const LOST_MS = 60_000

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
 * its circuits: it is notified when it comes back, also of ends that were sent shortly before its channel closed.
 */
export class CircuitEnds {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #circuits: OpenCircuits
  /** Circuits that routers may not have forgotten, by the routers' ids: when (epoch ms) that was sent, undefined where it was not. */
  readonly #missed = new BoundedMap<string, Map<string, number | undefined>>(MOST_ROUTERS)

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
      this.#keep(id, circuitId, router === undefined ? undefined : this.#context.clock.now())
      router?.channel.send({ type: 'unroute', circuitId, now })
    }
  }

  /** A router is back: before any other request it must forget the circuits that ended while it was away or shortly before. */
  settle({ id, channel }: ConnectedRouter): void {
    const now = this.#context.clock.now()
    for (const [circuitId, sentAt] of [...(this.#missed.get(id) ?? [])]) {
      // A circuit that is open may have come back to the router.
      const isMissed = this.#circuits.get(circuitId) === undefined && !isArrived(sentAt, now)
      if (!isMissed) continue
      this.#keep(id, circuitId, now)
      channel.send({ type: 'unroute', circuitId, now: true })
    }
  }

  #keep(routerId: string, circuitId: string, sentAt: number | undefined): void {
    const missed = this.#missed.get(routerId) ?? new Map<string, number | undefined>()
    missed.delete(circuitId)
    this.#missed.set(routerId, missed.set(circuitId, sentAt))
    const now = this.#context.clock.now()
    for (const [oldest, oldestSentAt] of missed) {
      if (missed.size <= MOST_MISSED && !isArrived(oldestSentAt, now)) return
      missed.delete(oldest)
    }
  }
}

/** Reports whether a message that was sent at an instant (epoch ms) has arrived by now. False without an instant: it was not sent. */
function isArrived(sentAt: number | undefined, now: number): boolean {
  return sentAt !== undefined && now - sentAt > LOST_MS
}
