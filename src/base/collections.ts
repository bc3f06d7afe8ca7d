/** A map with a limited number of keys: beyond it, the key that was set longest ago is dropped. Set a key again when it is used. */
export class BoundedMap<K, V> {
  /** In the order of setting, oldest first. */
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

  /** Keeps a value under a key, which becomes the youngest. */
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

/** Groups items by a key, in the order of first occurrence. `Map.groupBy` does the same, but Node 20 lacks it. */
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

/** Reports whether two lists hold the same texts in the same order. */
export function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, position) => value === right[position])
}
