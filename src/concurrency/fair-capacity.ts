/** A connection, body or answer that holds part of a capacity, until it leaves or is evicted. */
export interface Holder {
  /** Takes `amount` more. Makes room by evicting holders, if needed this holder itself. */
  take(amount: number): void
  /** From now on this holder is never evicted: the process works for it, and does not wait for its peer. */
  work(): void
  /** From now on this holder may be evicted, as after its entrance: the process waits for its peer. */
  wait(): void
  /** Gives everything back. */
  leave(): void
}

/** A capacity that all networks share. */
export interface FairCapacity {
  /** Adds a holder of a network, which holds nothing yet. `onPutOut` is called at most once, after the holder has lost its part. */
  enter(network: string, onPutOut: () => void): Holder
}

/** The capacity of all networks together, and the greatest part of one network; all of it by default. */
export interface CapacityOptions {
  readonly total: number
  readonly perNetwork?: number
}

interface Network {
  taken: number
  holders: number
  /** The holders that may be evicted, by when the wait for their peers began; the longest wait comes first. */
  readonly waiting: Map<object, Waiting>
}

interface Waiting {
  readonly since: number
  putOut(): void
}

/**
 * A capacity that networks share, so that no network can starve the others. A network that takes more than is left gets it at once: the
 * network that holds most loses the holder that has stalled longest, again and again until the amount fits. So stalled peers make room, and
 * a network alone harms only itself. A single holder always gets its amount.
 */
export function createFairCapacity({ total, perNetwork = total }: CapacityOptions): FairCapacity {
  const networks = new Map<string, Network>()
  let taken = 0
  let holders = 0
  let turns = 0

  const makeRoom = (own: Network) => {
    while (holders > 1 && own.taken > perNetwork) {
      if (!putOutFirst(own)) break
    }
    while (holders > 1 && taken > total) {
      if (!putOutFirst(heaviest(networks.values()))) break
    }
  }

  return {
    enter(name, onPutOut) {
      const network = networks.get(name) ?? { taken: 0, holders: 0, waiting: new Map() }
      networks.set(name, network)
      const key = {}
      let held = 0
      let isHere = true
      holders += 1
      network.holders += 1

      const leave = () => {
        if (!isHere) return
        isHere = false
        holders -= 1
        network.holders -= 1
        taken -= held
        network.taken -= held
        network.waiting.delete(key)
        if (network.holders === 0) networks.delete(name)
      }
      const putOut = () => {
        leave()
        onPutOut()
      }
      const wait = () => {
        network.waiting.delete(key)
        turns += 1
        if (isHere) network.waiting.set(key, { since: turns, putOut })
      }
      wait()
      return {
        take(amount) {
          if (!isHere) return
          held += amount
          taken += amount
          network.taken += amount
          makeRoom(network)
        },
        work: () => void network.waiting.delete(key),
        wait,
        leave,
      }
    },
  }
}

/** Evicts the holder of a network that has stalled longest; false when no holder may be evicted. */
function putOutFirst(network: Network | undefined): boolean {
  const [first] = network?.waiting.values() ?? []
  first?.putOut()
  return first !== undefined
}

/** The network that holds most and has a holder to evict; among equals, the network with the longest wait. */
function heaviest(networks: Iterable<Network>): Network | undefined {
  let found: Network | undefined
  let foundSince = 0
  for (const network of networks) {
    if (network.waiting.size === 0 || network.taken < (found?.taken ?? 0)) continue
    const [{ since } = { since: 0 }] = network.waiting.values()
    if (found !== undefined && network.taken === found.taken && since > foundSince) continue
    found = network
    foundSince = since
  }
  return found
}
