import { FairGate } from '../../concurrency/fair-gate.ts'
import { TooManyAttempts } from '../../domain/errors.ts'
import { networkOf } from '../../domain/network-of.ts'
import type { Caller } from '../../engine/context/call.ts'
import type { FindQuery } from '../../ports/storage.ts'
import type { Turns } from '../../ports/turns.ts'
import type { OperationShape } from '../operations/operation.ts'

/** How many entities a list may ask for and still be answered at once. */
const SHORT = 100
/** When a caller with too many lists may ask again, in ms. */
const RETRY_AFTER_MS = 1000

/** Reports whether a list is long by what it asks for: what it will hold is known when it is made. */
export function isLongList({ symbols }: OperationShape, { limit }: FindQuery): boolean {
  return symbols !== undefined && (limit ?? Number.POSITIVE_INFINITY) > SHORT
}

/**
 * Answers the long lists of one identity one after the other, its API sessions in turns, and lets others in between: making one
 * takes the processor and memory for longer than anything else that a client asks for, so that many at once would be waited
 * for by everybody.
 */
export class LongLists {
  readonly #gates = new Map<string, FairGate>()
  readonly #turns: Turns
  readonly #most: number

  /** At most `most` lists of one identity are waited for. */
  constructor(turns: Turns, most: number) {
    this.#turns = turns
    this.#most = most
  }

  /**
   * Makes a list when it is its turn. Who has said no name waits with everybody else of the network.
   *
   * @throws {ControllerError} SERVER_TOO_MANY_REQUESTS for one list too many.
   */
  async answer<T>(caller: Caller | undefined, remoteAddress: string | undefined, make: () => Promise<T>): Promise<T> {
    const whose = caller === undefined ? `network ${networkOf(remoteAddress ?? '')}` : caller.identity.id
    const gate = this.#gates.get(whose) ?? new FairGate()
    if (gate.size >= this.#most) throw new TooManyAttempts(RETRY_AFTER_MS, 'SERVER_TOO_MANY_REQUESTS')
    this.#gates.set(whose, gate)
    try {
      return await gate.run(caller?.apiSession.id ?? '', async () => {
        const nextTurn = this.#turns.begin()
        return await make().finally(nextTurn)
      })
    } finally {
      if (gate.size === 0) this.#gates.delete(whose)
    }
  }
}
