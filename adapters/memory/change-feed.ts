import type { Change } from './core.ts'

/** The most recent changes after `start` in the order of their commits; what is older than `capacity` changes is forgotten. */
export class ChangeFeed {
  readonly #capacity: number
  readonly #changes: Change[] = []
  #first = 0
  /** The latest revision of which a change is forgotten, so that only what follows it can be told whole. */
  #forgotten: number

  constructor(capacity: number, start: number) {
    this.#capacity = capacity
    this.#forgotten = start
  }

  append(changes: readonly Change[]): void {
    for (const change of changes) this.#changes.push(change)
    this.#forget(this.#changes.length - this.#first - this.#capacity)
  }

  /** The changes after `revision` up to and including `upTo`; undefined when some of them are forgotten or yet to come. */
  between(revision: number, upTo: number): readonly Change[] | undefined {
    if (revision < this.#forgotten || revision > upTo) return undefined
    return this.#changes.slice(this.#positionAfter(revision), this.#positionAfter(upTo))
  }

  #forget(excess: number): void {
    if (excess <= 0) return
    this.#first += excess
    this.#forgotten = this.#changes[this.#first - 1]?.revision ?? this.#forgotten
    // Moving the array once per `capacity` changes keeps appending cheap.
    if (this.#first >= this.#capacity) this.#first -= this.#changes.splice(0, this.#first).length
  }

  #positionAfter(revision: number): number {
    let low = this.#first
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
