/** Keys in one run of a sorted map; a run that grows beyond it is halved, so that an insertion moves few elements. */
const RUN_LENGTH = 512

/** Neighbouring keys with their values. Only the map whose `owner` it names may change it; others copy it first. */
interface Run<K, V> {
  readonly owner: object
  readonly keys: K[]
  readonly values: V[]
}

/**
 * A map whose keys are ordered by `compare`. `clone()` costs nothing: both copies share their runs until either changes a run. So every
 * read takes a snapshot of 100,000 records.
 */
export class SortedMap<K, V> {
  readonly #compare: (a: K, b: K) => number
  #runs: Run<K, V>[]
  #size: number
  /** Whether another map has the same list of runs. */
  #isShared: boolean
  #owner: object = {}

  constructor(compare: (a: K, b: K) => number, origin?: SortedMap<K, V>) {
    this.#compare = compare
    this.#runs = origin === undefined ? [] : origin.#runs
    this.#size = origin === undefined ? 0 : origin.#size
    this.#isShared = origin !== undefined
  }

  get size(): number {
    return this.#size
  }

  clone(): SortedMap<K, V> {
    // Neither copy may change a shared run.
    this.#isShared = true
    this.#owner = {}
    return new SortedMap(this.#compare, this)
  }

  has(key: K): boolean {
    return this.#find(key).isThere
  }

  get(key: K): V | undefined {
    const { run, at, isThere } = this.#find(key)
    return isThere ? this.#runs[run]?.values[at] : undefined
  }

  set(key: K, value: V): void {
    const { run, at, isThere } = this.#find(key)
    const own = this.#ownRun(run)
    own.keys.splice(at, isThere ? 1 : 0, key)
    own.values.splice(at, isThere ? 1 : 0, value)
    if (isThere) return
    this.#size += 1
    if (own.keys.length > RUN_LENGTH) this.#halve(run, own)
  }

  delete(key: K): boolean {
    const { run, at, isThere } = this.#find(key)
    if (!isThere) return false
    const own = this.#ownRun(run)
    own.keys.splice(at, 1)
    own.values.splice(at, 1)
    this.#size -= 1
    if (own.keys.length === 0) this.#runs.splice(run, 1)
    return true
  }

  /** The keys, ascending, beginning with `from` or the first after it. */
  *keys(from?: K): Generator<K> {
    const start = from === undefined ? { run: 0, at: 0 } : this.#find(from)
    for (let run = start.run; run < this.#runs.length; run += 1) {
      const keys = this.#runs[run]?.keys ?? []
      yield* run === start.run ? keys.slice(start.at) : keys
    }
  }

  /** The values in the order of their keys. */
  *values(): Generator<V> {
    for (const { values } of this.#runs) yield* values
  }

  /** Where a key is, or where it belongs. */
  #find(key: K): { run: number; at: number; isThere: boolean } {
    let [low, high] = [0, this.#runs.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#runs[middle]?.keys.at(-1)
      // A run is never empty, so it has a last key.
      if (last !== undefined && this.#compare(last, key) < 0) low = middle + 1
      else high = middle
    }
    // A key that is greater than every other belongs to the end of the last run.
    const run = low === this.#runs.length && low > 0 ? low - 1 : low
    const keys = this.#runs[run]?.keys ?? []
    const at = firstNotBelow(keys, key, this.#compare)
    const found = keys[at]
    return { run, at, isThere: found !== undefined && this.#compare(found, key) === 0 }
  }

  /** The run at a place, copied first if another map shares it: this map may change it. */
  #ownRun(place: number): Run<K, V> {
    if (this.#isShared) {
      this.#runs = [...this.#runs]
      this.#isShared = false
    }
    const run = this.#runs[place]
    if (run?.owner === this.#owner) return run
    const own = { owner: this.#owner, keys: [...(run?.keys ?? [])], values: [...(run?.values ?? [])] }
    this.#runs[place] = own
    return own
  }

  #halve(place: number, { owner, keys, values }: Run<K, V>): void {
    const middle = keys.length >>> 1
    this.#runs.splice(place + 1, 0, { owner, keys: keys.splice(middle), values: values.splice(middle) })
  }
}

function firstNotBelow<K>(keys: readonly K[], key: K, compare: (a: K, b: K) => number): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const there = keys[middle]
    if (there !== undefined && compare(there, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
