import { BoundedMap } from '../base/collections.ts'
import type { EngineContext } from '../context/context.ts'
import type { ControllerEvents } from '../facts/network/events.ts'

/** Circuits whose bytes are known at most; beyond them the longest quiet is forgotten. */
const MOST_CIRCUITS = 20_000
/** The steps of a history, and the length of one: half an hour in all. */
const STEPS = 30
const STEP_MS = 60_000
/** A rate is that of the last report for as long as this (ms): routers report every 15 s to a minute. */
const FRESH_MS = 90_000

/** The bytes that circuits carried, as their routers reported them to this process. */
export interface Load {
  readonly bytes: number
  /** Bytes a second as of the last report; 0 for what is quiet. */
  readonly rate: number
  /** The bytes of each minute of the last half hour, the earliest first. */
  readonly history: readonly number[]
}

/** The identities, the service and the first router of a circuit. */
export interface Carried {
  readonly circuitId: string
  readonly identityId: string
  readonly serviceId: string
  readonly hostId: string
  readonly routerId: string
}

interface CircuitLoad {
  readonly of: Carried
  bytes: number
  rate: number
  at: number
  /** Bytes by the number of the minute, of the last half hour. */
  readonly minutes: Map<number, number>
}

/** Follows reports of usage from its start on, and answers the load of circuits that are open, or ended within the last half hour. */
export class TrafficUsage {
  readonly #clock: EngineContext['clock']
  readonly #circuits = new BoundedMap<string, CircuitLoad>(MOST_CIRCUITS)

  constructor({ clock, events }: Pick<EngineContext, 'clock' | 'events'>) {
    this.#clock = clock
    events.on('circuit.usage', (usage) => this.#note(usage))
  }

  /** The load of one circuit; nothing for a circuit that no router reported. */
  of(circuitId: string): Load {
    const history = this.#emptyHistory()
    const known = this.#circuits.get(circuitId)
    if (known !== undefined) this.#add(history, known)
    return { bytes: known?.bytes ?? 0, rate: this.rateOf(circuitId), history }
  }

  /** The bytes a second of one circuit. */
  rateOf(circuitId: string): number {
    const known = this.#circuits.get(circuitId)
    return known !== undefined && this.#clock.now() - known.at < FRESH_MS ? known.rate : 0
  }

  /** The bytes of each minute of the last half hour, of the circuits that are meant. `turn` shares the thread. */
  async historyOf(
    isMeant: (circuit: Carried) => boolean,
    turn: () => Promise<void> | undefined,
  ): Promise<readonly number[]> {
    const history = this.#emptyHistory()
    // Reports that come meanwhile change the order of the map.
    for (const [, known] of [...this.#circuits]) {
      if (isMeant(known.of)) this.#add(history, known)
      await turn()
    }
    return history
  }

  #emptyHistory(): number[] {
    return Array.from({ length: STEPS }, () => 0)
  }

  #add(history: number[], { minutes }: CircuitLoad): void {
    const first = Math.floor(this.#clock.now() / STEP_MS) - STEPS + 1
    for (const [minute, carried] of minutes) {
      const step = minute - first
      if (step >= 0 && step < STEPS) history[step] = (history[step] ?? 0) + carried
    }
  }

  /** The first router of a path counts what its client sent and got; others count the same bytes again. */
  #note(usage: ControllerEvents['circuit.usage']): void {
    const { circuitId, at, lengthMs, bytes } = usage
    const carried = (bytes['ingress.rx'] ?? 0) + (bytes['ingress.tx'] ?? 0)
    if (carried === 0 || lengthMs <= 0) return
    const { identityId, serviceId, hostId, routerId } = usage
    const of = { circuitId, identityId, serviceId, hostId, routerId }
    const known = this.#circuits.get(circuitId) ?? { of, bytes: 0, rate: 0, at, minutes: new Map() }
    const minute = Math.floor(at / STEP_MS)
    known.bytes += carried
    known.rate = (carried * 1000) / lengthMs
    known.at = at
    known.minutes.set(minute, (known.minutes.get(minute) ?? 0) + carried)
    for (const earliest of known.minutes.keys()) if (earliest <= minute - STEPS) known.minutes.delete(earliest)
    this.#circuits.set(circuitId, known)
  }
}
