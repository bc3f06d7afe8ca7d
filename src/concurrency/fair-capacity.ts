/** Somebody who holds a part of a capacity, until it leaves or is put out. */
export interface Holder {
  /** Takes `amount` more. Others may have to go for it, or the holder itself where nobody else should. */
  take(amount: number): void
  /** From now on nobody waits for this holder, and it waits for others: it is never put out. */
  work(): void
  /** From now on others wait for this holder, as after its entrance. */
  wait(): void
  /** Gives everything back. */
  leave(): void
}

/** A capacity that everybody must share. */
export interface FairCapacity {
  /** Somebody of a network comes in, with nothing yet; `onPutOut` is called at most once, after it has lost its part. */
  enter(network: string, onPutOut: () => void): Holder
}

/** How much there is for all, and how much of it one network may take; as much as all unless given. */
export interface CapacityOptions {
  readonly total: number
  readonly perNetwork?: number
}

interface Network {
  taken: number
  holders: number
  /** Those that may be put out, by when they began to wait; the first has waited longest. */
  readonly waiting: Map<object, Waiting>
}

interface Waiting {
  readonly since: number
  putOut(): void
}

/**
 * A capacity that networks share so that none can take it from the others. A network that takes more than is left gets it at once:
 * the network that holds most loses the one that others have waited for longest, again and again until it fits. So those who
 * stand still make room, and a network alone harms only itself. What one holder takes alone always fits.
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

/** Evicts the request of a network that waits longest; false when there is none. */
function putOutFirst(network: Network | undefined): boolean {
  const [first] = network?.waiting.values() ?? []
  first?.putOut()
  return first !== undefined
}

/** The network that holds most among those that somebody can be put out of; of equals the one that is waited for longest. */
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
