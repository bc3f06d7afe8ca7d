import { networkOf } from '../../base/addresses.ts'
import { TooManyAttempts } from '../../base/errors.ts'
import { FairGate } from '../../concurrency/gate.ts'
import type { Caller } from '../../context/call.ts'
import type { Turns } from '../../ports/runtime.ts'

/** When a caller with too many requests may ask again, in ms. */
const RETRY_AFTER_MS = 1000

/** How many requests of one identity are answered at once, and how many wait. */
export interface TurnLimits {
  /** Requests of this weight together are answered at once. */
  readonly places: number
  /** The most that wait. */
  readonly waiting: number
  /** Requests of this weight together are answered at once to all identities; absent where each has only its own places. */
  readonly placesOfAll?: number
}

/**
 * Answers requests that are much work in turns: each identity has as many at once as there are places, its API sessions
 * one after the other, and other requests go in between. Such requests take the processor and memory longer than any
 * other request: many at once would delay every caller.
 */
export class CallerTurns {
  readonly #gates = new Map<string, FairGate>()
  readonly #turns: Turns
  readonly #limits: TurnLimits
  readonly #all: FairGate

  constructor(turns: Turns, limits: TurnLimits) {
    this.#turns = turns
    this.#limits = limits
    this.#all = new FairGate(limits.placesOfAll ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Answers a request when it is its turn. A request without a caller waits with all others of its network.
   *
   * @throws {ControllerError} SERVER_TOO_MANY_REQUESTS for one request too many.
   */
  async run<T>(
    weight: number,
    caller: Caller | undefined,
    remoteAddress: string | undefined,
    make: () => Promise<T>,
  ): Promise<T> {
    const whose = caller === undefined ? `network ${networkOf(remoteAddress ?? '')}` : caller.identity.id
    const gate = this.#gates.get(whose) ?? new FairGate(this.#limits.places)
    if (gate.waiting >= this.#limits.waiting) throw new TooManyAttempts(RETRY_AFTER_MS, 'SERVER_TOO_MANY_REQUESTS')
    const turn = this.#turns.begin()
    this.#gates.set(whose, gate)
    try {
      const begin = async () => {
        // Short answers to many callers would otherwise all be made in one turn of the event loop.
        await turn()
        return make()
      }
      const taken = Math.max(weight, 1)
      return await gate.run(caller?.apiSession.id ?? '', taken, () => this.#all.run(whose, taken, begin))
    } finally {
      if (gate.isIdle) this.#gates.delete(whose)
    }
  }
}
