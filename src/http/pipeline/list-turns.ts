import { FairGate } from '../../concurrency/fair-gate.ts'
import { TooManyAttempts } from '../../domain/errors.ts'
import { networkOf } from '../../domain/network-of.ts'
import type { Caller } from '../../engine/context/call.ts'
import type { FindQuery } from '../../ports/storage.ts'
import type { Turns } from '../../ports/turns.ts'

/** How many entities the lists may ask for that are made at once for one identity: as many as a page has at most. */
const ENTITIES_AT_ONCE = 500
/** When a caller with too many lists may ask again, in ms. */
const RETRY_AFTER_MS = 1000

/**
 * Makes the lists of one identity in turns, as many at once as one long page has entities, its API sessions one after the other,
 * and lets others in between. Making a long list takes the processor and memory for longer than anything else that a client
 * asks for, so that many at once would be waited for by everybody.
 */
export class ListTurns {
  readonly #gates = new Map<string, FairGate>()
  readonly #turns: Turns
  readonly #most: number

  /** At most `most` lists of one identity wait for their turn. */
  constructor(turns: Turns, most: number) {
    this.#turns = turns
    this.#most = most
  }

  /**
   * Makes a list when it is its turn. Who has said no name waits with everybody else of the network.
   *
   * @throws {ControllerError} SERVER_TOO_MANY_REQUESTS for one list too many.
   */
  async run<T>(
    { limit = ENTITIES_AT_ONCE }: FindQuery,
    caller: Caller | undefined,
    remoteAddress: string | undefined,
    make: () => Promise<T>,
  ): Promise<T> {
    const whose = caller === undefined ? `network ${networkOf(remoteAddress ?? '')}` : caller.identity.id
    const gate = this.#gates.get(whose) ?? new FairGate(ENTITIES_AT_ONCE)
    if (gate.waiting >= this.#most) throw new TooManyAttempts(RETRY_AFTER_MS, 'SERVER_TOO_MANY_REQUESTS')
    this.#gates.set(whose, gate)
    try {
      return await gate.run(caller?.apiSession.id ?? '', Math.max(limit, 1), async () => {
        const nextTurn = this.#turns.begin()
        return await make().finally(nextTurn)
      })
    } finally {
      if (gate.isIdle) this.#gates.delete(whose)
    }
  }
}
