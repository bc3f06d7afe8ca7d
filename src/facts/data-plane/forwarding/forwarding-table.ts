/** The most circuits that a router forwards: as many as its controller creates over it. */
const MOST_CIRCUITS = 100_000
/** Addresses of one circuit: of its current path, and of former paths with messages that may still be under way. */
const MOST_ADDRESSES = 16
/** Milliseconds without traffic after which an ending circuit is dropped: messages under way have arrived. */
const QUIET_MS = 5000
/** Milliseconds without traffic after which a controller is asked whether it still knows a circuit. */
const IDLE_MS = 60_000

/** Messages that come from one address go to another; either is a link or an end of the circuit. */
export interface Forwarding {
  readonly srcAddress: string
  readonly dstAddress: string
}

/** A circuit at one router of its path. */
interface ForwardedCircuit {
  /** The controller that created it, which gets its faults. */
  readonly controllerId: string
  /** Destination by source. */
  readonly forwards: Map<string, string>
  activeAt: number
  isEnding: boolean
}

/** A circuit without traffic, for its controller to confirm. */
export interface IdleCircuit {
  readonly circuitId: string
  readonly controllerId: string
  readonly idleMs: number
}

/** A circuit in reports to operators. */
export interface ToldCircuit extends IdleCircuit {
  /** Destination by source. */
  readonly forwards: ReadonlyMap<string, string>
}

/**
 * The paths of circuits through a router. The destination of a message depends on its circuit and its source, so that a link or a client
 * reaches only circuits that were created over it. Times are ms of any monotonic clock.
 */
export class ForwardingTable {
  readonly #circuits = new Map<string, ForwardedCircuit>()
  readonly #ending = new Set<string>()
  readonly #most: number

  constructor(mostCircuits = MOST_CIRCUITS) {
    this.#most = mostCircuits
  }

  get size(): number {
    return this.#circuits.size
  }

  /**
   * Adds a circuit, or another path for an existing circuit, whose earlier addresses stay valid for messages under way. False for a full
   * table, and for a circuit of another controller.
   */
  lay(circuitId: string, controllerId: string, forwards: readonly Forwarding[], now: number): boolean {
    const known = this.#circuits.get(circuitId)
    if (known === undefined && this.#circuits.size >= this.#most) return false
    if (known !== undefined && known.controllerId !== controllerId) return false
    const circuit = known ?? { controllerId, forwards: new Map(), activeAt: now, isEnding: false }
    for (const { srcAddress, dstAddress } of forwards) {
      circuit.forwards.delete(srcAddress)
      circuit.forwards.set(srcAddress, dstAddress)
    }
    for (const [oldest] of circuit.forwards) {
      if (circuit.forwards.size <= MOST_ADDRESSES) break
      circuit.forwards.delete(oldest)
    }
    circuit.activeAt = now
    this.#circuits.set(circuitId, circuit)
    return true
  }

  /** The destination of a message from an address; undefined without a forward. Retransmissions do not count as activity. */
  destination(circuitId: string, source: string, now: number, isActivity = true): string | undefined {
    const circuit = this.#circuits.get(circuitId)
    if (circuit !== undefined && isActivity) circuit.activeAt = now
    return circuit?.forwards.get(source)
  }

  /** All forwards of a circuit, destination by source. */
  forwardsOf(circuitId: string): ReadonlyMap<string, string> | undefined {
    return this.#circuits.get(circuitId)?.forwards
  }

  /** The controller that created a circuit. */
  controllerOf(circuitId: string): string | undefined {
    return this.#circuits.get(circuitId)?.controllerId
  }

  /** Reports whether a circuit is ending. */
  isEnding(circuitId: string): boolean {
    return this.#ending.has(circuitId)
  }

  /** Drops a circuit at once. */
  drop(circuitId: string): void {
    this.#circuits.delete(circuitId)
    this.#ending.delete(circuitId)
  }

  /** Marks a circuit as ending: it is dropped once it has been quiet. */
  dropWhenQuiet(circuitId: string): void {
    const circuit = this.#circuits.get(circuitId)
    if (circuit === undefined) return
    circuit.isEnding = true
    this.#ending.add(circuitId)
  }

  /** Drops the ending circuits that are quiet, calls `dropped` for each, and answers their ids. */
  dropQuiet(
    now: number,
    dropped: (circuitId: string, forwards: ReadonlyMap<string, string>) => void = () => undefined,
  ): readonly string[] {
    const quiet = [...this.#ending].filter((id) => now - (this.#circuits.get(id)?.activeAt ?? 0) >= QUIET_MS)
    for (const id of quiet) {
      const forwards = this.#circuits.get(id)?.forwards
      this.drop(id)
      if (forwards !== undefined) dropped(id, forwards)
    }
    return quiet
  }

  /** The circuits of the table, at most `most`, since there may be very many. */
  circuits(now: number, most: number): readonly ToldCircuit[] {
    const shown: ToldCircuit[] = []
    for (const [circuitId, { controllerId, activeAt, forwards }] of this.#circuits) {
      if (shown.length >= most) break
      shown.push({ circuitId, controllerId, idleMs: now - activeAt, forwards })
    }
    return shown
  }

  /** The circuits without traffic for a minute. */
  idle(now: number): readonly IdleCircuit[] {
    const idle: IdleCircuit[] = []
    for (const [circuitId, { controllerId, activeAt, isEnding }] of this.#circuits) {
      if (!isEnding && now - activeAt >= IDLE_MS) idle.push({ circuitId, controllerId, idleMs: now - activeAt })
    }
    return idle
  }
}

/** The most circuits whose faults wait for a report, so that a peer cannot add invented circuits without bound. */
export const MOST_WAITING_FAULTS = 1000
/** Milliseconds between two reports, so that a circuit whose path is being repaired is reported only once. */
export const FAULT_REPORT_MS = 15_000

/** Circuits with messages that could not be forwarded, for their controller, or for all controllers if it is unknown. */
interface FaultReport {
  readonly controllerId: string | undefined
  readonly circuitIds: readonly string[]
}

/** Collects the circuits with messages that could not be forwarded, each once, until they are reported. */
export class ForwardFaults {
  readonly #waiting = new Map<string, string | undefined>()
  #reportedAt: number

  /** `now` is ms, as in {@link report}. */
  constructor(now: number) {
    this.#reportedAt = now
  }

  /** Notes that a message of a circuit could not be forwarded. */
  note(circuitId: string, controllerId: string | undefined): void {
    if (this.#waiting.size >= MOST_WAITING_FAULTS && !this.#waiting.has(circuitId)) return
    this.#waiting.set(circuitId, controllerId)
  }

  /** Forgets a circuit that has ended or has a path again. */
  forget(circuitId: string): void {
    this.#waiting.delete(circuitId)
  }

  /** The due reports, by controller; empty until the time between reports has passed. */
  report(now: number): readonly FaultReport[] {
    if (now - this.#reportedAt < FAULT_REPORT_MS) return []
    this.#reportedAt = now
    const byController = new Map<string | undefined, string[]>()
    for (const [circuitId, controllerId] of this.#waiting) {
      const known = byController.get(controllerId)
      if (known === undefined) byController.set(controllerId, [circuitId])
      else known.push(circuitId)
    }
    this.#waiting.clear()
    return [...byController].map(([controllerId, circuitIds]) => ({ controllerId, circuitIds }))
  }
}
