import { networkOf } from '../../../domain/network-of.ts'

/** How many logins may be under way of which nobody knows yet who it is: in all, and from one network. */
const MAX_PENDING = 10_000
const MAX_OF_NETWORK = 1000

/**
 * The auth requests that nobody logged in on: anybody can begin them, so this process bounds their number. Who begins too
 * many loses the oldest ones; where there are too many in all, the network that began most of them does.
 */
export class PendingRequests {
  readonly #networks = new Map<string, string>()
  /** Of each network in the order in which they were begun. */
  readonly #ids = new Map<string, Set<string>>()

  /** A request is begun from an address; answers the ids of those that have to go for it. */
  add(id: string, address: string): readonly string[] {
    const network = address === '' ? '' : networkOf(address)
    const own = this.#ids.get(network) ?? new Set()
    this.#ids.set(network, own.add(id))
    this.#networks.set(id, network)
    const gone = [
      ...(own.size > MAX_OF_NETWORK ? firstOf(own) : []),
      ...(this.#networks.size > MAX_PENDING ? firstOf(this.#largest()) : []),
    ]
    for (const one of gone) this.delete(one)
    return gone
  }

  #largest(): ReadonlySet<string> {
    let largest: ReadonlySet<string> = new Set()
    for (const ids of this.#ids.values()) if (ids.size > largest.size) largest = ids
    return largest
  }

  /** Somebody logged in on the request, or it is over. */
  delete(id: string): void {
    const network = this.#networks.get(id)
    if (network === undefined) return
    this.#networks.delete(id)
    const own = this.#ids.get(network)
    own?.delete(id)
    if (own?.size === 0) this.#ids.delete(network)
  }
}

function firstOf(ids: Iterable<string>): readonly string[] {
  for (const id of ids) return [id]
  return []
}
