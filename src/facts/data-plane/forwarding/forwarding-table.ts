/** Circuits that a router forwards at the most, as many as its controller lays over it. */
const MOST_CIRCUITS = 100_000
/** Addresses of one circuit: those of its present path and of the paths before, from which something may still be under way. */
const MOST_ADDRESSES = 16
/** Milliseconds of quiet after which a circuit that is to end is dropped: what was under way has arrived. */
const QUIET_MS = 5000
/** Milliseconds without traffic after which a controller is asked whether it still knows a circuit. */
const IDLE_MS = 60_000

/** Messages that come from one address go to another; either is a link or an end of the circuit. */
export interface Forwarding {
  readonly srcAddress: string
  readonly dstAddress: string
}

/** A circuit as one router of its path has it. */
interface ForwardedCircuit {
  /** The controller that laid it, which hears of its faults. */
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

/** A circuit as operators see it. */
export interface ToldCircuit extends IdleCircuit {
  /** Destination by source. */
  readonly forwards: ReadonlyMap<string, string>
}

/**
 * The paths of circuits through a router: where a message goes depends on its circuit and on where it came from, so that
 * a link or a client reaches no circuit that was not laid over it. Times are ms of any clock that only goes forward.
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
   * Lays a circuit, or another way for one that is there: its earlier addresses stay good for what is still under way. Answers
   * false when the table is full, or another controller laid the circuit.
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

  /** Where a message goes that came from an address; undefined where nothing was laid. What is sent again is no activity. */
  destination(circuitId: string, source: string, now: number, isActivity = true): string | undefined {
    const circuit = this.#circuits.get(circuitId)
    if (circuit !== undefined && isActivity) circuit.activeAt = now
    return circuit?.forwards.get(source)
  }

  /** Every way of a circuit, destination by source. */
  forwardsOf(circuitId: string): ReadonlyMap<string, string> | undefined {
    return this.#circuits.get(circuitId)?.forwards
  }

  /** The controller that laid a circuit. */
  controllerOf(circuitId: string): string | undefined {
    return this.#circuits.get(circuitId)?.controllerId
  }

  /** Whether a circuit is to end. */
  isEnding(circuitId: string): boolean {
    return this.#ending.has(circuitId)
  }

  /** Drops a circuit at once. */
  drop(circuitId: string): void {
    this.#circuits.delete(circuitId)
    this.#ending.delete(circuitId)
  }

  /** Lets a circuit end: it is dropped once it has been quiet. */
  dropWhenQuiet(circuitId: string): void {
    const circuit = this.#circuits.get(circuitId)
    if (circuit === undefined) return
    circuit.isEnding = true
    this.#ending.add(circuitId)
  }

  /** Drops the circuits that are to end and are quiet, telling `dropped` of each; answers which. */
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

  /** The circuits that are laid, `most` of them at the most: there may be very many. */
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

/** The most circuits whose faults wait for a report: a peer that invents circuits adds no more. */
export const MOST_WAITING_FAULTS = 1000
/** Milliseconds between two reports: a circuit that is being laid again meanwhile is reported once. */
export const FAULT_REPORT_MS = 15_000

/** Circuits for which messages came that nobody can forward, for one controller or, where nobody knows whose they are, for all. */
interface FaultReport {
  readonly controllerId: string | undefined
  readonly circuitIds: readonly string[]
}

/** Remembers for which circuits messages could not be forwarded, each once, until they are reported. */
export class ForwardFaults {
  readonly #waiting = new Map<string, string | undefined>()
  #reportedAt: number

  /** `now` is ms, as in {@link report}. */
  constructor(now: number) {
    this.#reportedAt = now
  }

  /** A message of a circuit could not be forwarded. */
  note(circuitId: string, controllerId: string | undefined): void {
    if (this.#waiting.size >= MOST_WAITING_FAULTS && !this.#waiting.has(circuitId)) return
    this.#waiting.set(circuitId, controllerId)
  }

  /** The circuit has ended, or was laid again: there is nothing to tell. */
  forget(circuitId: string): void {
    this.#waiting.delete(circuitId)
  }

  /** The reports that are due now, by controller; none before the time between reports has passed. */
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
