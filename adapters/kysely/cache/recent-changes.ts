import type { Change } from '../../../src/index.ts'

/** So many changes are remembered, and up to as many again. */
const REMEMBERED = 5000

/** The changes that led to the revision of the cache, as far as they are remembered. */
export class RecentChanges {
  #changes: Change[] = []
  /** All changes after it are remembered. */
  #from = Number.POSITIVE_INFINITY

  /** Takes in the changes up to a revision; undefined when it is not known how it was reached. */
  moveTo(revision: number, changes: readonly Change[] | undefined): void {
    if (changes === undefined) this.clear()
    if (this.#from === Number.POSITIVE_INFINITY) this.#from = revision
    else for (const change of changes ?? []) this.#changes.push(change)
    if (this.#changes.length <= 2 * REMEMBERED) return
    // All changes of one revision are forgotten together.
    this.#from = this.#changes.at(-REMEMBERED)?.revision ?? revision
    this.#changes = this.#changes.slice(this.#firstAfter(this.#from))
  }

  clear(): void {
    this.#changes = []
    this.#from = Number.POSITIVE_INFINITY
  }

  /** The changes after a revision; undefined where some may be forgotten. */
  since(revision: number): readonly Change[] | undefined {
    return revision < this.#from ? undefined : this.#changes.slice(this.#firstAfter(revision))
  }

  #firstAfter(revision: number): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#changes[middle]?.revision ?? revision) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
