import { BoundedMap } from '../../base/collections.ts'
import type { CircuitQuestion, CircuitView, PeerData } from '../../facts/fabric/messages/index.ts'
import {
  type CircuitCourse,
  type CircuitEnds,
  circuitEnded,
  firstRouter,
  type Path,
  routersOf,
  type TerminatorUse,
  UNUSED,
} from '../../facts/fabric/rules/index.ts'
import type { Party } from './service-rights.ts'

/** How many circuits are remembered after their end. */
const MOST_ENDED = 20_000

/** The circuits that this process laid, and how much their terminators are used. */
export class OpenCircuits {
  readonly #circuits = new Map<string, Circuit>()
  /** How many begin at a router; both ends of a circuit stay where they are. */
  readonly #from = new Map<string, number>()
  /** Facts for late reports of their usage: a whole circuit has two kilobytes, and the data that its client sent. */
  readonly #ended = new BoundedMap<string, ReportedCircuit>(MOST_ENDED)
  readonly #use = new Map<string, TerminatorUse>()

  get size(): number {
    return this.#circuits.size
  }

  get(id: string): Circuit | undefined {
    return this.#circuits.get(id)
  }

  all(): readonly Circuit[] {
    return [...this.#circuits.values()]
  }

  /** The circuits that are meant, as operators see them. */
  views({ circuitId, sessionId }: CircuitQuestion): readonly CircuitView[] {
    const meant = circuitId === undefined ? this.all() : [this.get(circuitId) ?? []].flat()
    return meant.filter(({ client }) => sessionId === undefined || client.sessionId === sessionId).map(viewOf)
  }

  /** How many circuits begin at a router. */
  countFrom(routerId: string): number {
    return this.#from.get(routerId) ?? 0
  }

  add(circuit: Circuit): void {
    this.#circuits.set(circuit.id, circuit)
    this.#count(circuit, 1)
  }

  /** A circuit that is open, or ended lately, as far as reports of its usage concern it. */
  lately(id: string): ReportedCircuit | undefined {
    const open = this.#circuits.get(id)
    if (open === undefined) return this.#ended.get(id)
    return reported(open)
  }

  /** Ends a circuit; answers whether it was open. */
  remove(circuit: Circuit): boolean {
    const { id, terminatorId } = circuit
    if (!this.#circuits.has(id)) return false
    this.#count(circuit, -1)
    this.#ended.set(id, reported(circuit))
    const use = this.#use.get(terminatorId)
    if (use !== undefined) this.#use.set(terminatorId, circuitEnded(use))
    return this.#circuits.delete(id)
  }

  #count({ course }: Circuit, more: number): void {
    const from = firstRouter(course.path)
    const count = this.countFrom(from) + more
    if (count > 0) this.#from.set(from, count)
    else this.#from.delete(from)
  }

  useOf(terminatorId: string): TerminatorUse {
    return this.#use.get(terminatorId) ?? UNUSED
  }

  /** Every terminator that was dialed, with its use. */
  uses(): Iterable<readonly [string, TerminatorUse]> {
    return this.#use
  }

  noteUse(terminatorId: string, use: TerminatorUse): void {
    this.#use.set(terminatorId, use)
  }

  /** A terminator is gone: its use is forgotten. */
  forgetTerminator(terminatorId: string): void {
    this.#use.delete(terminatorId)
  }
}

/** The party at one end of a circuit. */
export interface CircuitParty extends Party {
  /**
   * Its posture, as clients report it to this controller, must pass as long as the circuit lasts. This holds from the beginning if its
   * router judges no posture. Otherwise it holds once the posture passed here: until then the router judges the reports that it gets.
   */
  mustPass: boolean
}

/** A circuit that is laid. */
export interface Circuit {
  readonly id: string
  readonly client: CircuitParty
  readonly serviceId: string
  readonly terminatorId: string
  /** The instance that was dialed; empty for one without a name. */
  readonly instanceId: string
  /** The host of the service; undefined where an operator registered the address. */
  readonly host: CircuitParty | undefined
  readonly ends: CircuitEnds
  /** The address that the last router dials. */
  readonly egress: { readonly binding: string; readonly destination: string; readonly peerData: PeerData }
  readonly tags: ReadonlyMap<string, string>
  /** Epoch ms. */
  readonly createdAt: number
  course: CircuitCourse
}

/** The facts of a circuit that reports of its usage tell, and the routers that may report it. */
interface ReportedCircuit {
  readonly facts: ReturnType<typeof lastingFactsOf>
  readonly routers: readonly string[]
}

function reported(circuit: Circuit): ReportedCircuit {
  return { facts: lastingFactsOf(circuit), routers: routersOf(circuit.course) }
}

/** The facts of a circuit that every event of it tells. */
export function factsOf(circuit: Circuit, at: number) {
  return { ...lastingFactsOf(circuit), at }
}

function lastingFactsOf({ id: circuitId, client, serviceId, terminatorId, instanceId, tags }: Circuit) {
  const { identityId } = client
  return { circuitId, identityId, serviceId, terminatorId, hostId: tags.get('hostId') ?? '', instanceId }
}

/** The way of a circuit along a path, as events tell it. */
export function wayOf({ ends }: Pick<Circuit, 'ends'>, { routers, links, cost }: Path) {
  return { path: routers, links, ingressId: ends.ingress, egressId: ends.egress, cost }
}

function viewOf({ id, client, serviceId, terminatorId, course, tags, createdAt }: Circuit): CircuitView {
  const { identityId: clientId, sessionId } = client
  const { path } = course
  return { id, clientId, sessionId, serviceId, terminatorId, path, tags: Object.fromEntries(tags), createdAt }
}

/** The attempt number by which routers know that an open circuit changes its way. */
export const MOVING_ATTEMPT = 99_969_996
