import { BoundedMap } from '../../../../src/base/collections.ts'
import type { FromRouter, Route, ToRouter } from '../../../../src/control-channel.ts'
import { LINK_WORKER, localLink } from './worker-messages.ts'

/** The workers of a router, as its circuits are laid over them. */
export interface CircuitWorkers {
  /** Has a worker take a message of a controller; resolves with its answer. Rejects where it is gone. */
  take(index: number, controllerId: string, message: ToRouter): Promise<FromRouter | undefined>
  /** Sends a message to the controller of a circuit. */
  tell(controllerId: string, message: FromRouter): void
}

type Forwards = Route['forwards']
type Request = Extract<FromRouter, { type: 'create-circuit' }>

/** A circuit at this router. */
interface SpreadCircuit {
  readonly controllerId: string
  /** The worker of the dialer, and that of the host; undefined where the end is at another router. */
  ingress: number | undefined
  egress: number | undefined
  forwards: Forwards
  isOver: boolean
}

/** The most circuits that are known; each of two workers forwards half as many. */
const MOST_CIRCUITS = 200_000

/** The part of each worker in a circuit: where two addresses are at two workers, the local link between them is in the middle. */
function partsOf(
  forwards: Forwards,
  ends: { readonly ingress: number | undefined; readonly egress: number | undefined },
): ReadonlyMap<number, Forwards> {
  const types = new Map(forwards.map(({ dstAddress, dstType }) => [dstAddress, dstType]))
  const workerOf = (address: string) => {
    const type = types.get(address) ?? 'link'
    return (type === 'start' ? ends.ingress : type === 'end' ? ends.egress : undefined) ?? LINK_WORKER
  }
  const parts = new Map<number, Forwards[number][]>()
  const add = (index: number, forward: Forwards[number]) => parts.set(index, [...(parts.get(index) ?? []), forward])
  for (const forward of forwards) {
    const [from, to] = [workerOf(forward.srcAddress), workerOf(forward.dstAddress)]
    if (from === to) add(from, forward)
    else {
      const between = localLink(from, to)
      add(from, { ...forward, dstAddress: between, dstType: 'link' })
      add(to, { ...forward, srcAddress: between })
    }
  }
  return parts
}

/** The circuits of a router with workers: which ends of them are at which worker. */
export class SpreadCircuits {
  readonly #workers: CircuitWorkers
  readonly #circuits = new BoundedMap<string, SpreadCircuit>(MOST_CIRCUITS)
  /** The workers whose endpoints proposed the ids of circuits. */
  readonly #proposed = new Map<string, number>()
  /** Requests whose circuits the controller names, by the workers that wait for them. */
  readonly #unnamed = new Map<number, number>()
  /** The workers of terminators. */
  readonly #hosts = new Map<string, number>()

  constructor(workers: CircuitWorkers) {
    this.#workers = workers
  }

  /** An endpoint of a worker hosts a service. */
  hosts(terminatorId: string, index: number): void {
    this.#hosts.set(terminatorId, index)
  }

  /** Endpoints of a worker no longer host: answers the terminators that no other worker has taken over. */
  hostsNoMore(terminatorIds: readonly string[], index: number): readonly string[] {
    const own = terminatorIds.filter((id) => [undefined, index].includes(this.#hosts.get(id)))
    for (const id of own) this.#hosts.delete(id)
    return own
  }

  /** An endpoint of a worker dials; `ask` asks the controller. The worker has its part of the circuit before this resolves. */
  async dial(index: number, request: Request, ask: () => Promise<ToRouter | undefined>): Promise<ToRouter | undefined> {
    const { circuitId = '' } = request
    if (circuitId !== '') this.#proposed.set(circuitId, index)
    else this.#unnamed.set(index, (this.#unnamed.get(index) ?? 0) + 1)
    try {
      const answer = await ask()
      if (answer?.type === 'circuit-created') await this.#dialerIs(index, answer.circuitId)
      return answer
    } finally {
      if (circuitId !== '') this.#proposed.delete(circuitId)
      else {
        const left = (this.#unnamed.get(index) ?? 1) - 1
        if (left > 0) this.#unnamed.set(index, left)
        else this.#unnamed.delete(index)
      }
    }
  }

  /** Lays a circuit as its controller asks, over as many workers as it takes. */
  async route(controllerId: string, route: Route): Promise<FromRouter | undefined> {
    const { circuitId, egress, forwards } = route
    const known = this.#circuits.get(circuitId)
    const isNew = known?.controllerId !== controllerId
    const circuit: SpreadCircuit = isNew
      ? { controllerId, ingress: undefined, egress: undefined, forwards, isOver: false }
      : known
    circuit.forwards = forwards
    if (egress !== undefined) circuit.egress = this.#hosts.get(egress.destination) ?? circuit.egress ?? LINK_WORKER
    const isFirst = forwards.some(({ dstType }) => dstType === 'start')
    if (isFirst) circuit.ingress ??= this.#dialerOf(circuitId, circuit.egress)
    this.#circuits.set(circuitId, circuit)
    return this.#lay(circuit, route, isNew)
  }

  /** A controller drops a circuit. */
  unrouted(circuitId: string): void {
    const circuit = this.#circuits.get(circuitId)
    if (circuit !== undefined) circuit.isOver = true
    this.#circuits.delete(circuitId)
  }

  /** Circuits at this router, and those of them that are at two workers. */
  get counts(): { readonly circuits: number; readonly crossing: number } {
    let crossing = 0
    for (const [, circuit] of this.#circuits) if (partsOf(circuit.forwards, circuit).size > 1) crossing += 1
    return { circuits: this.#circuits.size, crossing }
  }

  /** A worker is gone, with the ends of circuits and the terminators that it had: answers the terminators. */
  lost(index: number): readonly string[] {
    const terminatorIds = [...this.#hosts].filter(([, host]) => host === index).map(([id]) => id)
    for (const id of terminatorIds) this.#hosts.delete(id)
    this.#endAll(({ ingress, egress }) => (ingress === index ? 'ingress' : egress === index ? 'egress' : undefined))
    return terminatorIds
  }

  /** Two workers reach each other no more. */
  parted(one: number, other: number): void {
    this.#endAll((circuit) => {
      const parts = partsOf(circuit.forwards, circuit)
      if (!parts.has(one) || !parts.has(other)) return undefined
      return circuit.ingress === undefined ? 'egress' : 'ingress'
    })
  }

  /** Tells controllers at which end circuits are over. A worker that has the other end loses the local link, and ends it by itself. */
  #endAll(overAt: (circuit: SpreadCircuit) => 'ingress' | 'egress' | undefined): void {
    for (const [circuitId, circuit] of [...this.#circuits]) {
      const subject = overAt(circuit)
      if (subject === undefined) continue
      this.unrouted(circuitId)
      this.#workers.tell(circuit.controllerId, { type: 'fault', subject, id: circuitId, iteration: 0 })
    }
  }

  #drop(circuitId: string, circuit: SpreadCircuit): void {
    for (const index of partsOf(circuit.forwards, circuit).keys()) {
      const unroute: ToRouter = { type: 'unroute', circuitId, now: true }
      this.#workers.take(index, circuit.controllerId, unroute).catch(() => undefined)
    }
  }

  /** The worker of a dialer: it has proposed the circuit, or it waits for a circuit. The answer to its request corrects a wrong guess. */
  #dialerOf(circuitId: string, host: number | undefined): number {
    const waiting = [...this.#unnamed.keys()]
    // A host that expects its dialer at the same worker could not turn to another one.
    const [first = LINK_WORKER] = waiting.length > 1 ? waiting.filter((index) => index !== host) : waiting
    return this.#proposed.get(circuitId) ?? first
  }

  /** The host is dialed first: without it there is no circuit. */
  async #lay(circuit: SpreadCircuit, route: Route, isNew: boolean): Promise<FromRouter | undefined> {
    const { egress, ...passing } = route
    const parts = partsOf(route.forwards, circuit)
    const last = egress === undefined ? undefined : (circuit.egress ?? LINK_WORKER)
    const order = [...parts.keys()].sort((one, other) => Number(other === last) - Number(one === last))
    let answer: FromRouter | undefined
    for (const index of order) {
      const part = { ...(index === last ? route : passing), forwards: parts.get(index) ?? [] }
      const laid = await this.#layAt(index, circuit, part)
      answer ??= laid
      if (laid?.type === 'route-result' && laid.success && !circuit.isOver) continue
      if (isNew || circuit.isOver) this.#drop(route.circuitId, circuit)
      if (laid?.type === 'route-result' && !laid.success) return laid
      return failed(route, 'the circuit ended while it was laid')
    }
    return answer
  }

  async #layAt(index: number, { controllerId }: SpreadCircuit, route: Route): Promise<FromRouter | undefined> {
    try {
      return await this.#workers.take(index, controllerId, route)
    } catch {
      return failed(route, 'the process of the router is gone')
    }
  }

  /** The controller named a circuit for a worker. Another worker may have been taken for that of its dialer. */
  async #dialerIs(index: number, circuitId: string): Promise<void> {
    const circuit = this.#circuits.get(circuitId)
    if (circuit === undefined || circuit.ingress === undefined || circuit.ingress === index) return
    const before = partsOf(circuit.forwards, circuit)
    circuit.ingress = index
    const { controllerId, forwards } = circuit
    const route: Route = { type: 'route', circuitId, attempt: 0, timeoutMs: 0, forwards, tags: new Map() }
    await this.#lay(circuit, route, false)
    const after = partsOf(forwards, circuit)
    for (const left of before.keys()) {
      if (after.has(left)) continue
      this.#workers.take(left, controllerId, { type: 'unroute', circuitId, now: true }).catch(() => undefined)
    }
  }
}

function failed({ circuitId, attempt }: Route, message: string): FromRouter {
  const facts = { circuitId, attempt, success: false, cause: 'generic', peerData: new Map() } as const
  return { type: 'route-result', ...facts, message }
}
