import type { Limits } from '../../../domain/limits.ts'
import { networkOf } from '../../../domain/network-of.ts'

/** How many logins may be under way of which nobody knows yet who it is: in all, and from one network. */
const MAX_PENDING = 10_000
const MAX_OF_NETWORK = 1000

/** What one network began: the bytes of each request, in the order in which they were begun. */
interface Begun {
  readonly sizes: Map<string, number>
  bytes: number
}

/**
 * The auth requests that nobody logged in on: anybody can begin them, so this process bounds their number and their bytes. Who
 * begins too much loses the oldest ones; where there is too much in all, the network that began most of it does.
 */
export class PendingRequests {
  readonly #limits: Pick<Limits, 'loginBytesPerNetwork' | 'loginBytes'>
  readonly #networks = new Map<string, string>()
  readonly #begun = new Map<string, Begun>()
  #bytes = 0

  constructor(limits: Pick<Limits, 'loginBytesPerNetwork' | 'loginBytes'>) {
    this.#limits = limits
  }

  /** A request of so many bytes is begun from an address; answers the ids of those that have to go for it. */
  add(id: string, address: string, size: number): readonly string[] {
    const network = address === '' ? '' : networkOf(address)
    const own = this.#begun.get(network) ?? { sizes: new Map<string, number>(), bytes: 0 }
    this.#begun.set(network, own)
    this.#networks.set(id, network)
    own.sizes.set(id, size)
    own.bytes += size
    this.#bytes += size
    const gone: string[] = []
    const { loginBytesPerNetwork, loginBytes } = this.#limits
    while (own.sizes.size > MAX_OF_NETWORK || own.bytes > loginBytesPerNetwork) gone.push(this.#drop(own))
    while (this.#networks.size > MAX_PENDING) gone.push(this.#drop(this.#most(({ sizes }) => sizes.size)))
    while (this.#bytes > loginBytes) gone.push(this.#drop(this.#most(({ bytes }) => bytes)))
    return gone
  }

  /** Somebody logged in on the request, or it is over. */
  delete(id: string): void {
    const network = this.#networks.get(id)
    const own = network === undefined ? undefined : this.#begun.get(network)
    if (network === undefined || own === undefined) return
    const size = own.sizes.get(id) ?? 0
    this.#networks.delete(id)
    own.sizes.delete(id)
    own.bytes -= size
    this.#bytes -= size
    if (own.sizes.size === 0) this.#begun.delete(network)
  }

  /** The oldest request of a network goes; answers its id. */
  #drop({ sizes }: Begun): string {
    const [id = ''] = sizes.keys()
    this.delete(id)
    return id
  }

  #most(amount: (begun: Begun) => number): Begun {
    let most: Begun = { sizes: new Map(), bytes: 0 }
    for (const begun of this.#begun.values()) if (amount(begun) > amount(most)) most = begun
    return most
  }
}
