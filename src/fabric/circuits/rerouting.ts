import type { EngineContext } from '../../context/context.ts'
import {
  circuitsOver,
  detourOf,
  moveBegun,
  moved,
  moveFailed,
  type Path,
  routersLeft,
  worthwhileDetours,
} from '../../facts/fabric/rules/index.ts'
import type { Network } from '../channels/network.ts'
import type { CircuitEnds } from './circuit-end.ts'
import { type Circuit, factsOf, MOVING_ATTEMPT, type OpenCircuits, wayOf } from './open-circuits.ts'
import type { RouteExchange } from './route-exchange.ts'

interface Parts {
  readonly context: EngineContext
  readonly network: Network
  readonly circuits: OpenCircuits
  readonly exchange: RouteExchange
  readonly ends: CircuitEnds
}

const TIMEOUT_MS = 10_000

/** Moves open circuits to other paths: at once where the path is broken, and from time to time where another path is better. */
export class Rerouting {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A link is gone: every circuit over it takes another path, or ends. */
  linkLost(linkId: string): void {
    const over = circuitsOver(
      linkId,
      this.#parts.circuits.all().map((circuit) => ({ id: circuit.id, path: circuit.course.path, circuit })),
    )
    for (const { circuit } of over) this.repair(circuit)
  }

  /** The path of a circuit is broken: the circuit is laid anew over the present links, or ends. */
  repair(circuit: Circuit): void {
    void this.#move(
      circuit,
      detourOf({ id: circuit.id, path: circuit.course.path }, this.#parts.network.topology()),
      true,
    )
  }

  /** Moves the circuits that a router only forwards to paths without it, where there are such paths; resolves when they are moved. */
  async around(routerId: string): Promise<void> {
    const topology = this.#parts.network.topology()
    const passing = this.#parts.circuits
      .all()
      .filter(({ course }) => course.path.routers.slice(1, -1).includes(routerId))
    const moves = passing.flatMap((circuit) => {
      const detour = detourOf({ id: circuit.id, path: circuit.course.path }, topology)
      return detour === undefined || detour.routers.includes(routerId) ? [] : [this.#move(circuit, detour, false)]
    })
    await Promise.all(moves)
  }

  /** Moves the few circuits that gain most by it. */
  improve(): void {
    const { circuits, network } = this.#parts
    const routed = circuits.all().map((circuit) => ({ id: circuit.id, path: circuit.course.path, circuit }))
    const topology = network.topology()
    for (const { circuit, path } of worthwhileDetours(routed, topology, (way) => network.costOf(way))) {
      void this.#move(circuit.circuit, path, false)
    }
  }

  /** Moves a circuit. A circuit with a broken path is laid again even along the same routers, and ends if that fails. */
  async #move(circuit: Circuit, path: Path | undefined, isBroken: boolean): Promise<void> {
    const { ends, exchange, circuits, network } = this.#parts
    if (path === undefined) {
      ends.end(circuit, 'no-path', true)
      return
    }
    const before = circuit.course
    circuit.course = moveBegun(before, path, isBroken)
    if (before.phase.name !== 'open' || circuit.course === before) return
    const { attempt } = await exchange.lay(circuit, MOVING_ATTEMPT, path, TIMEOUT_MS, false)
    if (circuits.get(circuit.id) === undefined) {
      ends.unroute(circuit.id, path.routers, true)
      return
    }
    const { phase, path: formerPath } = circuit.course
    if (attempt.failure !== undefined) {
      circuit.course = moveFailed(circuit.course)
      ends.unroute(circuit.id, routersLeft(path, formerPath), true)
      if (isBroken) ends.end(circuit, 'no-path', true)
      // Routers on both paths already forward along the new path.
      else if (network.costOf(formerPath) === undefined) this.repair(circuit)
      else void this.#move(circuit, formerPath, true)
      return
    }
    circuit.course = moved(circuit.course)
    ends.unroute(circuit.id, routersLeft(formerPath, path), true)
    this.#tell(circuit, path)
    // Links that changed meanwhile may be part of the new path.
    const isStale = phase.name === 'moving' && phase.isStale
    if (isStale && network.costOf(path) === undefined) this.repair(circuit)
  }

  #tell(circuit: Circuit, path: Path): void {
    const { events, clock } = this.#parts.context
    const facts = factsOf(circuit, clock.now())
    events.emit('circuit.moved', { ...facts, ...wayOf(circuit, path), openedAt: circuit.createdAt })
  }
}
