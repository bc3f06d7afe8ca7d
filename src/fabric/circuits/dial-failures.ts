import { BoundedMap } from '../../base/collections.ts'
import type { DialFailure } from '../../facts/access/explain/service-reach.rules.ts'

/** Pairs of identity and service; beyond it, the pair whose dial failed longest ago is forgotten. */
const MOST_REMEMBERED = 10_000

/** Why the last dial of an identity to a service failed, until a later one succeeds; in the memory of this process. */
export class DialFailures {
  readonly #last = new BoundedMap<string, DialFailure>(MOST_REMEMBERED)

  of(identityId: string, serviceId: string): DialFailure | undefined {
    return this.#last.get(keyOf(identityId, serviceId))
  }

  failed(identityId: string, serviceId: string, failure: DialFailure): void {
    this.#last.set(keyOf(identityId, serviceId), failure)
  }

  succeeded(identityId: string, serviceId: string): void {
    this.#last.delete(keyOf(identityId, serviceId))
  }
}

function keyOf(identityId: string, serviceId: string): string {
  return JSON.stringify([identityId, serviceId])
}
