/** The most circuits that a router forwards: as many as its controller creates over it. */
const MOST_CIRCUITS = 100_000
/** Addresses of one circuit: of its current path, and of former paths with messages that may still be under way. */
const MOST_ADDRESSES = 16
/** Milliseconds without traffic after which an ending circuit is dropped: messages under way have arrived. */
const QUIET_MS = 5000
/** Milliseconds without traffic after which a controller is asked whether it still knows a circuit. */
const IDLE_MS = 60_000
/** Dropped circuits whose bytes wait for a report: the bytes of others are not reported. */
const MOST_DROPPED = 20_000

/** Messages that come from one address go to another; either is a link or an end of the circuit. */
export interface Forwarding {
  readonly srcAddress: string
  readonly dstAddress: string
  /** `start`: the destination is the client of the circuit. */
  readonly dstType?: 'start' | 'end' | 'link'
}

/** A circuit at one router of its path. */
interface ForwardedCircuit {
  /** The controller that created it, which gets its faults. */
  readonly controllerId: string
  /** Destination by source. */
  readonly forwards: Map<string, string>
  /** The address of the client, at the first router of the path. */
  client?: string
  /** The bytes since the last report from the client and to it. */
  fromClient: number
  toClient: number
  activeAt: number
  isEnding: boolean
}

/** A circuit without traffic, for its controller to confirm. */
export interface IdleCircuit {
  readonly circuitId: string
  readonly controllerId: string
  readonly idleMs: number
}

/** The bytes of a circuit since the report before: from its client and to it. */
export interface CarriedBytes {
  readonly circuitId: string
  readonly controllerId: string
  readonly fromClient: number
  readonly toClient: number
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
  /** Circuits that carried bytes since the last report. */
  readonly #carrying = new Set<string>()
  /** The bytes of circuits that were dropped since the last report. */
  #ofDropped: CarriedBytes[] = []
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
    const circuit: ForwardedCircuit = known ?? {
      ...{ controllerId, forwards: new Map(), activeAt: now, isEnding: false },
      ...{ fromClient: 0, toClient: 0 },
    }
    for (const { srcAddress, dstAddress, dstType } of forwards) {
      if (dstType === 'start') circuit.client = dstAddress
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

  /**
   * The destination of a message from an address; undefined without a forward. Retransmissions do not count as activity, and their bytes
   * are not counted. Bytes are counted at the first router of a path, so that each counts once.
   */
  destination(circuitId: string, source: string, now: number, isActivity = true, bytes = 0): string | undefined {
    const circuit = this.#circuits.get(circuitId)
    if (circuit === undefined) return undefined
    const destination = circuit.forwards.get(source)
    if (!isActivity) return destination
    circuit.activeAt = now
    if (bytes === 0 || circuit.client === undefined) return destination
    if (circuit.fromClient + circuit.toClient === 0) this.#carrying.add(circuitId)
    if (source === circuit.client) circuit.fromClient += bytes
    else circuit.toClient += bytes
    return destination
  }

  /** The bytes that circuits carried since the last report, dropped circuits included. */
  carried(): readonly CarriedBytes[] {
    const carried = this.#ofDropped
    this.#ofDropped = []
    for (const circuitId of this.#carrying) {
      const circuit = this.#circuits.get(circuitId)
      if (circuit === undefined) continue
      carried.push(carriedBy(circuitId, circuit))
      circuit.fromClient = 0
      circuit.toClient = 0
    }
    this.#carrying.clear()
    return carried
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
    const circuit = this.#circuits.get(circuitId)
    const isCarrying = this.#carrying.delete(circuitId)
    if (circuit !== undefined && isCarrying && this.#ofDropped.length < MOST_DROPPED) {
      this.#ofDropped.push(carriedBy(circuitId, circuit))
    }
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
const MOST_WAITING_FAULTS = 1000
/** Milliseconds between two reports, so that a circuit whose path is being repaired is reported only once. */
const FAULT_REPORT_MS = 15_000

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

function carriedBy(circuitId: string, { controllerId, fromClient, toClient }: ForwardedCircuit): CarriedBytes {
  return { circuitId, controllerId, fromClient, toClient }
}
