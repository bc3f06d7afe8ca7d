/** Circuits whose faults wait to be told: a peer that invents circuits makes no more of them. */
export const MOST_WAITING_FAULTS = 1000
/** Milliseconds between two reports: a circuit that is being laid again meanwhile is told once. */
export const FAULT_REPORT_MS = 15_000

/** Circuits for which messages came that nobody can forward, for one controller or, where nobody knows whose they are, for all. */
export interface FaultReport {
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
