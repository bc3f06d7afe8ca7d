import type { EngineContext } from '../../context/context.ts'
import type { DialFailureCause } from '../../facts/access/explain/service-reach.rules.ts'
import type { FromRouter, PeerData } from '../../facts/fabric/messages/index.ts'
import {
  answered,
  attemptState,
  beginAttempt,
  expired,
  forwardsOf,
  type Path,
  type RouteAttempt,
  routerGone,
} from '../../facts/fabric/rules/index.ts'
import type { ConnectedRouters } from '../channels/connected-routers.ts'
import type { Circuit } from './open-circuits.ts'

type RouteResult = Extract<FromRouter, { type: 'route-result' }>
/** The parts of a circuit that routes are made of, whether it is open or is to be. */
export type RoutedCircuit = Pick<Circuit, 'id' | 'ends' | 'egress' | 'tags'>

/** How an attempt ended, and the data of the last router for the client. */
export interface SettledAttempt {
  readonly attempt: RouteAttempt
  readonly peerData: PeerData
  /** By router. */
  readonly answers: ReadonlyMap<string, RouterAnswer>
}

/** When (epoch ms) a router answered, and why it failed; null where it did not fail. */
export interface RouterAnswer {
  readonly at: number
  readonly cause: DialFailureCause | null
}

interface Pending {
  attempt: RouteAttempt
  peerData: PeerData
  readonly answers: Map<string, RouterAnswer>
  readonly settle: (settled: SettledAttempt) => void
}

/** Sends routes to all routers of a path at once and waits until each has answered. */
export class RouteExchange {
  readonly #context: EngineContext
  readonly #routers: ConnectedRouters
  readonly #pending = new Map<string, Pending>()

  constructor(context: EngineContext, routers: ConnectedRouters) {
    this.#context = context
    this.#routers = routers
    context.timetable.onDue('route', async (ids) => {
      for (const id of ids) this.#update(id, (attempt) => expired(attempt, context.clock.now()))
    })
  }

  /** How many circuits wait for routers. */
  get size(): number {
    return this.#pending.size
  }

  /** Lays a circuit along a path. Never rejects: the attempt names its outcome. Takes `timeoutMs` at most. */
  lay(circuit: RoutedCircuit, number: number, path: Path, timeoutMs: number, dials: boolean): Promise<SettledAttempt> {
    const deadline = this.#context.clock.now() + timeoutMs
    return new Promise((settle) => {
      this.#pending.set(circuit.id, {
        attempt: beginAttempt(number, path, deadline),
        peerData: new Map(),
        answers: new Map(),
        settle,
      })
      this.#context.timetable.set('route', circuit.id, deadline)
      for (const { routerId, forwards, isLast } of forwardsOf(path, circuit.ends)) {
        const router = this.#routers.get(routerId)
        if (router === undefined) {
          this.routerGone(routerId)
          continue
        }
        const { binding, destination, peerData } = circuit.egress
        const egress = { binding, address: circuit.ends.egress, destination, peerData }
        const { id: circuitId, tags } = circuit
        const route = { type: 'route', circuitId, attempt: number, timeoutMs, forwards, tags } as const
        router.channel.send(isLast && dials ? { ...route, egress } : route)
      }
    })
  }

  /** A router answered; false when no request waits for such an answer. */
  answered(routerId: string, { circuitId, attempt: number, success, cause, message, peerData }: RouteResult): boolean {
    const pending = this.#pending.get(circuitId)
    if (pending?.attempt.number !== number || !pending.attempt.path.routers.includes(routerId)) return false
    if (success && pending.attempt.path.routers.at(-1) === routerId) pending.peerData = peerData
    const answer = { at: this.#context.clock.now(), cause: success ? null : cause }
    if (!pending.answers.has(routerId)) pending.answers.set(routerId, answer)
    this.#update(circuitId, (attempt) =>
      answered(attempt, routerId, success ? { success } : { success, cause, message: message || cause }),
    )
    return true
  }

  /** Whether a circuit is in the making, or moves. */
  has(circuitId: string): boolean {
    return this.#pending.has(circuitId)
  }

  /** Whether a router has a part in a circuit that is in the making, or moves. */
  isAt(routerId: string, circuitId: string): boolean {
    return this.#pending.get(circuitId)?.attempt.path.routers.includes(routerId) === true
  }

  /** The circuits in the making that a router has a part of. */
  circuitsAt(routerId: string): readonly string[] {
    return [...this.#pending].flatMap(([id, { attempt }]) => (attempt.path.routers.includes(routerId) ? [id] : []))
  }

  routerGone(routerId: string): void {
    for (const id of [...this.#pending.keys()]) this.#update(id, (attempt) => routerGone(attempt, routerId))
  }

  #update(circuitId: string, step: (attempt: RouteAttempt) => RouteAttempt): void {
    const pending = this.#pending.get(circuitId)
    if (pending === undefined) return
    pending.attempt = step(pending.attempt)
    if (attemptState(pending.attempt) === 'waiting') return
    this.#pending.delete(circuitId)
    this.#context.timetable.set('route', circuitId, undefined)
    const { attempt, peerData, answers } = pending
    pending.settle({ attempt, peerData, answers })
  }
}
