import { sessions } from '../../facts/access/session.resource.ts'
import type {
  CircuitRequest,
  CircuitUsage,
  FaultSubject,
  FromRouter,
  ToRouter,
  TunnelCircuitRequest,
} from '../../facts/fabric/messages/index.ts'
import { firstRouter, lastRouter, passes } from '../../facts/fabric/rules/index.ts'
import { services } from '../../facts/services/service.resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import type { FabricParts } from '../assemble-fabric.ts'
import { RouterRefusal } from '../channels/channel-admission.ts'
import type { ConnectedRouter } from '../channels/connected-routers.ts'
import type { LaidCircuit } from './circuit-setup.ts'
import { type AskRight, dialRight, tunnelDialRight } from './dial-rights.ts'
import type { Circuit } from './open-circuits.ts'

type Message<Type extends FromRouter['type']> = Extract<FromRouter, { type: Type }>

const NANOSECONDS = 1_000_000
/** The most entries of one usage report that are passed on. */
const MOST_USAGE = 100_000
const MOST_DIRECTIONS = 16
const LONGEST_DIRECTION = 64
/** Faults name several circuits separated by blanks, and every router of the path keeps the id. */
const PROPOSED_ID = /^[\w.:~-]{8,64}$/

/** The id that a router proposes for a circuit; undefined where it leaves the choice to the controller. Throws {@link RouterRefusal}. */
function readCircuitId(proposed: string | undefined): string | undefined {
  if (proposed === undefined || proposed === '') return undefined
  if (PROPOSED_ID.test(proposed)) return proposed
  throw new RouterRefusal('internal', 'invalid circuit id', { hint: 'not-retriable' })
}

/** The messages of a router about circuits. A router may speak only for circuits that pass it. */
export class CircuitMessages {
  readonly #parts: FabricParts
  readonly #router: ConnectedRouter

  constructor(parts: FabricParts, router: ConnectedRouter) {
    this.#parts = parts
    this.#router = router
  }

  async create(request: CircuitRequest): Promise<ToRouter> {
    return this.#lay(request, await dialRight(this.#parts, this.#router, request), request.circuitId)
  }

  async createForRouter(request: TunnelCircuitRequest): Promise<ToRouter> {
    return this.#lay(request, tunnelDialRight(this.#parts, this.#router.id, request), undefined)
  }

  /**
   * An answer without a waiting request belongs to an attempt that was given up: the router must forget the circuit, unless another attempt
   * uses it.
   */
  routeResult(result: Message<'route-result'>): undefined {
    const { exchange, circuits } = this.#parts
    const { circuitId } = result
    if (exchange.answered(this.#router.id, result)) return
    const circuit = circuits.get(circuitId)
    if (circuit === undefined || !passes(circuit.course, this.#router.id)) this.#forget(circuitId)
  }

  /**
   * A circuit ended at one of its ends, or a router has no way for it; `ids` are separated by blanks for the latter. A router of a circuit in
   * the making may see bytes of it before its own route: that route is on its way.
   */
  fault(subject: FaultSubject, ids: string, isUnstarted = false): { readonly hasForeign: boolean } {
    const { circuits, ends, rerouting, setup, traces } = this.#parts
    let hasForeign = false
    for (const id of ids.split(' ')) {
      const circuit = circuits.get(id)
      if (circuit === undefined) {
        if (subject === 'forward') this.#forget(id)
        else if (subject === 'egress') setup.endEarly(this.#router.id, id, 'host-closed')
      } else if (!passes(circuit.course, this.#router.id)) hasForeign = true
      else if (isUnstarted && (subject === 'ingress' || subject === 'egress')) {
        traces.givenUp(id)
        ends.end(circuit, 'client-gave-up', false)
      } else if (subject === 'ingress') ends.end(circuit, 'client-closed', false)
      else if (subject === 'egress') ends.end(circuit, 'host-closed', false)
      else rerouting.repair(circuit)
    }
    return { hasForeign }
  }

  /**
   * The router lists circuits without traffic: it forgets a circuit that the controller does not know, and a circuit that is idle for too long
   * ends.
   */
  async confirm({ circuitIds, idleTimes }: Message<'circuit-confirmation'>): Promise<undefined> {
    const { circuits, ends, context } = this.#parts
    const own: Circuit[] = []
    for (const id of circuitIds) {
      const circuit = circuits.get(id)
      if (circuit === undefined || !passes(circuit.course, this.#router.id)) this.#forget(id)
      else own.push(circuit)
    }
    if (own.length === 0) return
    const { items } = await context.storage.read((tx) =>
      tx.collection(services).find({ where: ids(new Set(own.map(({ serviceId }) => serviceId))) }),
    )
    const limits = new Map(items.map(({ id, maxIdleTimeMillis }) => [id, maxIdleTimeMillis]))
    for (const circuit of own) {
      const limit = limits.get(circuit.serviceId)
      if (limit === undefined) ends.end(circuit, 'service-deleted', true)
      else if (limit > 0 && this.#isAtEnd(circuit) && (idleTimes.get(circuit.id) ?? 0) >= limit * NANOSECONDS) {
        ends.end(circuit, 'idle', true)
      }
    }
  }

  /** Reports the bytes of circuits that pass the router, even for a while after their end. */
  usage(reports: readonly CircuitUsage[]): undefined {
    const { circuits, context } = this.#parts
    for (const { circuitId, from, lengthMs, bytes } of reports.slice(0, MOST_USAGE)) {
      const circuit = circuits.lately(circuitId)
      if (circuit?.routers.includes(this.#router.id) !== true) continue
      const carried = [...bytes].slice(0, MOST_DIRECTIONS).filter(([name]) => name.length <= LONGEST_DIRECTION)
      context.events.emit('circuit.usage', {
        ...circuit.facts,
        at: context.clock.now(),
        routerId: this.#router.id,
        from,
        lengthMs,
        bytes: Object.fromEntries(carried),
      })
    }
  }

  /** Reports the service sessions that are over. The answer names a token by the id that it carries. */
  async validateSessions(tokens: readonly string[]): Promise<void> {
    const { context } = this.#parts
    const claims = await Promise.all(tokens.map((token) => context.tokens.verify(token, context.clock.now())))
    const asked = claims.map((claim, position) => String(claim?.jti ?? tokens[position]))
    const { items } = await context.storage.read((tx) => tx.collection(sessions).find({ where: ids(asked) }))
    const known = new Set(items.map(({ id }) => id))
    const over = asked.filter((id) => !known.has(id))
    if (over.length > 0) this.#router.channel.send({ type: 'sessions-removed', ids: over })
  }

  async #lay(
    { instanceId, peerData }: CircuitRequest | TunnelCircuitRequest,
    ask: AskRight,
    proposedId: string | undefined,
  ): Promise<ToRouter> {
    const request = { ask, instanceId, peerData, circuitId: readCircuitId(proposedId) }
    const laid: LaidCircuit = await this.#parts.setup.lay(this.#router, request)
    const { id: circuitId, ends, tags } = laid.circuit
    await this.#parts.accessLoss.opened(laid.circuit, laid.carrying)
    const { phase } = laid.circuit.course
    // A host that left already may have sent what its client is waiting for.
    if (phase.name === 'closed' && phase.reason !== 'host-closed') {
      throw new RouterRefusal('invalid-service', 'the access was lost while the circuit was laid', { circuitId })
    }
    // Bytes under way still arrive: the router learns of the end a moment before its client learns that the circuit exists.
    if (laid.over !== undefined) this.#parts.ends.end(laid.circuit, laid.over, false)
    return { type: 'circuit-created', circuitId, address: ends.ingress, peerData: laid.peerData, tags }
  }

  #isAtEnd({ course: { path } }: Circuit): boolean {
    return firstRouter(path) === this.#router.id || lastRouter(path) === this.#router.id
  }

  /** The router forgets a circuit that it has no part of, unless the circuit is being laid over it. */
  #forget(circuitId: string): void {
    const { ends, exchange } = this.#parts
    if (!exchange.isAt(this.#router.id, circuitId)) ends.unroute(circuitId, [this.#router.id], true)
  }
}
