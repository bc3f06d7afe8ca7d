import { type CircuitEnd, closed, routersOf } from '../../../domain/fabric/index.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ConnectedRouters } from '../routers/connected-routers.ts'
import type { Circuit } from './circuit.ts'
import type { OpenCircuits } from './open-circuits.ts'

/** Ends circuits: routers forget them, at once or once they are quiet, and the host hears why. */
export class CircuitEnds {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #circuits: OpenCircuits

  constructor(context: EngineContext, routers: ConnectedRouters, circuits: OpenCircuits) {
    this.#context = context
    this.#routers = routers
    this.#circuits = circuits
  }

  /** Ends a circuit, if it is still there. `now` cuts what is under way; otherwise it may flow off. */
  end(circuit: Circuit, reason: CircuitEnd, now: boolean): void {
    if (!this.#circuits.remove(circuit)) return
    if (circuit.client.mustPass) this.#context.timetable.set('circuit-posture', circuit.id, undefined)
    const routers = routersOf(circuit.course)
    circuit.course = closed(circuit.course, reason)
    this.unroute(circuit.id, routers, now)
    const { id: circuitId, client, serviceId, terminatorId } = circuit
    const at = this.#context.clock.now()
    const facts = { circuitId, identityId: client.identityId, serviceId, terminatorId, at }
    this.#context.events.emit('circuit.closed', { ...facts, reason })
  }

  /** Tells routers to forget a circuit, known here or not. */
  unroute(circuitId: string, routerIds: Iterable<string>, now: boolean): void {
    for (const id of routerIds) this.#routers.get(id)?.channel.send({ type: 'unroute', circuitId, now })
  }
}
