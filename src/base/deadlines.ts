interface Entry {
  readonly key: string
  readonly at: number
  /** True once it was replaced or dropped. */
  isOutdated: boolean
}

/**
 * The next instant (epoch ms) at which something is due, for each of many keys: a binary heap. An instant that is replaced
 * or dropped stays in the heap until it comes up, so that setting one costs O(log n); the heap is rebuilt when most of it
 * is out of date.
 */
export class Deadlines {
  readonly #current = new Map<string, Entry>()
  #heap: Entry[] = []

  get size(): number {
    return this.#current.size
  }

  /** The instant of a key. */
  get(key: string): number | undefined {
    return this.#current.get(key)?.at
  }

  /** The key is due at `at`, instead of whenever it was due before. */
  set(key: string, at: number): void {
    const known = this.#current.get(key)
    if (known?.at === at) return
    if (known !== undefined) known.isOutdated = true
    const entry = { key, at, isOutdated: false }
    this.#current.set(key, entry)
    this.#push(entry)
    if (this.#heap.length > 2 * this.#current.size + 64) this.#rebuild()
  }

  delete(key: string): void {
    const known = this.#current.get(key)
    if (known !== undefined) known.isOutdated = true
    this.#current.delete(key)
  }

  /** The earliest instant of all. */
  next(): number | undefined {
    this.#dropOutdated()
    return this.#heap[0]?.at
  }

  /** Takes out the keys that are due at `now`, earliest first, at most `limit` of them. */
  takeDue(now: number, limit = Number.POSITIVE_INFINITY): readonly string[] {
    const due: string[] = []
    for (let next = this.next(); next !== undefined && next <= now && due.length < limit; next = this.next()) {
      const key = this.#pop()
      this.#current.delete(key)
      due.push(key)
    }
    return due
  }

  #dropOutdated(): void {
    while (this.#heap[0]?.isOutdated) this.#pop()
  }

  #rebuild(): void {
    // A sorted array is a heap.
    this.#heap = [...this.#current.values()].sort((a, b) => a.at - b.at)
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let position = heap.length
    while (position > 0) {
      const above = (position - 1) >>> 1
      const parent = heap[above]
      if (parent === undefined || parent.at <= entry.at) break
      heap[position] = parent
      position = above
    }
    heap[position] = entry
  }

  /** Removes the top and answers its key. */
  #pop(): string {
    const heap = this.#heap
    const key = heap[0]?.key ?? ''
    const last = heap.pop()
    if (last !== undefined && heap.length > 0) this.#sink(last)
    return key
  }

  #sink(entry: Entry): void {
    const heap = this.#heap
    let position = 0
    for (;;) {
      const left = 2 * position + 1
      const right = heap[left + 1]
      const smaller = right !== undefined && right.at < (heap[left]?.at ?? 0) ? left + 1 : left
      const child = heap[smaller]
      if (child === undefined || child.at >= entry.at) break
      heap[position] = child
      position = smaller
    }
    heap[position] = entry
  }
}
