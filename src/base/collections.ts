/** A map with a greatest number of keys: beyond it, the key that was set longest ago goes. Set a key again when it is used. */
export class BoundedMap<K, V> {
  /** In the order in which they were set, oldest first. */
  readonly #entries = new Map<K, V>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  /** Keeps a value under a key, which is the youngest then. */
  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  /** Walks the entries, oldest first. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }
}

/** Groups items by a key, in the order in which keys first occur. `Map.groupBy` does the same, but Node 20 does not know it. */
export function grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
