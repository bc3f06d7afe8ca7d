interface Entry<T> {
  readonly priority: number
  readonly item: T
}

/** Gives back what was put in by ascending priority; equal ones in no promised order (a binary heap). */
export class PriorityQueue<T> {
  readonly #heap: Entry<T>[] = []

  push(priority: number, item: T): void {
    let position = this.#heap.push({ priority, item }) - 1
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (!this.#isBefore(position, parent)) return
      this.#swap(position, parent)
      position = parent
    }
  }

  /** Takes the entry of least priority; undefined when there is none. */
  pop(): Entry<T> | undefined {
    const top = this.#heap[0]
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return top
    this.#heap[0] = last
    this.#sink()
    return top
  }

  #sink(): void {
    for (let position = 0; ; ) {
      const left = 2 * position + 1
      const child = this.#isBefore(left + 1, left) ? left + 1 : left
      if (!this.#isBefore(child, position)) return
      this.#swap(child, position)
      position = child
    }
  }

  #isBefore(position: number, other: number): boolean {
    const entry = this.#heap[position]
    const rival = this.#heap[other]
    return entry !== undefined && (rival === undefined || entry.priority < rival.priority)
  }

  #swap(position: number, other: number): void {
    const [entry, rival] = [this.#heap[position], this.#heap[other]]
    if (entry === undefined || rival === undefined) return
    this.#heap[position] = rival
    this.#heap[other] = entry
  }
}
