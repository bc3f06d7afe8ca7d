/** A full block is split in two: an insertion moves at most this many entries, however many names there are. */
const BLOCK = 512

/** A name as a search compares it: without regard to case. */
export interface NameEntry {
  readonly id: string
  readonly name: string
  readonly folded: string
}

/** A position in the order of names; an entry is one. */
export type NamePlace = Pick<NameEntry, 'folded' | 'id'>

/** The names of entities of one kind, sorted by case-folded name, then by id. */
export class NameOrder {
  readonly #byId = new Map<string, NameEntry>()
  readonly #blocks: NameEntry[][] = []

  get size(): number {
    return this.#byId.size
  }

  get(id: string): NameEntry | undefined {
    return this.#byId.get(id)
  }

  /** Sets the name of an entity. */
  put(id: string, name: string): void {
    if (this.#byId.get(id)?.name === name) return
    this.remove(id)
    const entry = { id, name, folded: foldName(name) }
    this.#byId.set(id, entry)
    const at = Math.min(
      this.#firstBlock((last) => isBefore(entry, last)),
      this.#blocks.length - 1,
    )
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks.push([entry])
      return
    }
    block.splice(firstAfter(block, entry), 0, entry)
    if (block.length > BLOCK) this.#blocks.splice(at + 1, 0, block.splice(BLOCK >>> 1))
  }

  remove(id: string): void {
    const entry = this.#byId.get(id)
    if (entry === undefined) return
    this.#byId.delete(id)
    const at = this.#firstBlock((last) => !isBefore(last, entry))
    const block = this.#blocks[at]
    block?.splice(block.indexOf(entry), 1)
    if (block?.length === 0) this.#blocks.splice(at, 1)
  }

  /** Some of the entries after a place, in order; empty after the last place. Writes in between do no harm. */
  after(place: NamePlace): readonly NameEntry[] {
    const block = this.#blocks[this.#firstBlock((last) => isBefore(place, last))]
    return block === undefined ? [] : block.slice(firstAfter(block, place))
  }

  /**
   * The index of the first block whose last entry fulfils a condition that later blocks fulfil too; the number of blocks when no block
   * does.
   */
  #firstBlock(fulfils: (last: NameEntry) => boolean): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#blocks[middle]?.at(-1)
      if (last !== undefined && fulfils(last)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** A text without regard to case. */
export function foldName(text: string): string {
  return text.toLowerCase()
}

/** Reports whether one place comes before another. */
export function isBefore(one: NamePlace, other: NamePlace): boolean {
  return one.folded === other.folded ? one.id < other.id : one.folded < other.folded
}

function firstAfter(block: readonly NameEntry[], place: NamePlace): number {
  let low = 0
  let high = block.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = block[middle]
    if (entry !== undefined && !isBefore(place, entry)) low = middle + 1
    else high = middle
  }
  return low
}
