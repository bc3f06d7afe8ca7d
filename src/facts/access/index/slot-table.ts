import type { SlotSet } from './slot-set.ts'

/** Sorting k ids costs about this many times k·log2(k) visits of the ordered list. */
const SORT_COST = 16

/** Ids in ascending code-unit order, read on demand. A slice costs as much as all ids up to its end. */
export interface OrderedIds {
  readonly length: number
  slice(from?: number, to?: number): readonly string[]
}

/** Gives each id a dense slot number; the next new id gets the slot of a released id. */
export class SlotTable {
  readonly #slots = new Map<string, number>()
  readonly #ids: (string | undefined)[] = []
  readonly #free: number[] = []
  readonly #order = new IdOrder()

  /** The slot of the id, allocated if needed. */
  take(id: string): number {
    const known = this.#slots.get(id)
    if (known !== undefined) return known
    const slot = this.#free.pop() ?? this.#ids.length
    this.#slots.set(id, slot)
    this.#ids[slot] = id
    this.#order.insert(id, slot)
    return slot
  }

  release(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    this.#ids[slot] = undefined
    this.#free.push(slot)
    this.#order.remove(id)
  }

  /** The number of ids with a slot. */
  get size(): number {
    return this.#slots.size
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id)
  }

  idOf(slot: number): string | undefined {
    return this.#ids[slot]
  }

  /** The current id of each slot; undefined for a free slot. */
  ids(): readonly (string | undefined)[] {
    return this.#ids.slice()
  }

  /** The ids of the slots, in ascending code-unit order: a few are sorted, many are read from the ordered list. */
  idsOf(set: SlotSet): string[] {
    if (this.#isLarge(set)) return this.#order.idsIn(set, 0, set.size)
    return set
      .slots()
      .flatMap((slot) => this.#ids[slot] ?? [])
      .sort()
  }

  /** The same as a list that is read on demand. */
  listOf(set: SlotSet): OrderedIds {
    if (!this.#isLarge(set)) return this.idsOf(set)
    const { size: length } = set
    return { length, slice: (from = 0, to = length) => this.#order.idsIn(set, from, to) }
  }

  #isLarge({ size }: SlotSet): boolean {
    return size * Math.log2(size + 1) * SORT_COST > this.#slots.size
  }

  /** The lowest id, in code-unit order, of the slots. */
  lowestOf(set: SlotSet): string | undefined {
    // A large set has a member near the beginning of the order.
    if (set.size * set.size > this.#slots.size) return this.#order.lowestIn(set)
    const ids = set.slots().flatMap((slot) => this.#ids[slot] ?? [])
    return ids.length === 0 ? undefined : ids.reduce((lowest, id) => (id < lowest ? id : lowest))
  }
}

/** A full block is split in two: an insertion moves at most this many entries, however many ids there are. */
const BLOCK = 512

interface Block {
  readonly ids: string[]
  readonly slots: number[]
}

/** Ids with their slots, always in ascending code-unit order, so that large answers need no sorting. */
class IdOrder {
  readonly #blocks: Block[] = []

  insert(id: string, slot: number): void {
    const at = Math.min(this.#blockOf(id), this.#blocks.length - 1)
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks.push({ ids: [id], slots: [slot] })
      return
    }
    const position = firstNotBelow(block.ids, id)
    block.ids.splice(position, 0, id)
    block.slots.splice(position, 0, slot)
    if (block.ids.length <= BLOCK) return
    const half = BLOCK >>> 1
    this.#blocks.splice(at + 1, 0, { ids: block.ids.splice(half), slots: block.slots.splice(half) })
  }

  remove(id: string): void {
    const at = this.#blockOf(id)
    const block = this.#blocks[at]
    if (block === undefined) return
    const position = firstNotBelow(block.ids, id)
    if (block.ids[position] !== id) return
    block.ids.splice(position, 1)
    block.slots.splice(position, 1)
    if (block.ids.length === 0) this.#blocks.splice(at, 1)
  }

  /** The ascending ids whose slots are in the set, from one position to before another; walks over all ids up to there. */
  idsIn(set: SlotSet, from: number, to: number): string[] {
    const answer: string[] = []
    let found = 0
    for (const { ids, slots } of this.#blocks) {
      if (found >= to) break
      for (let i = 0; i < ids.length && found < to; i += 1) {
        const id = ids[i]
        const slot = slots[i]
        if (id === undefined || slot === undefined || !set.has(slot)) continue
        if (found >= from) answer.push(id)
        found += 1
      }
    }
    return answer
  }

  /** The lowest of the ids whose slots are in the set. */
  lowestIn(set: SlotSet): string | undefined {
    for (const { ids, slots } of this.#blocks) {
      const position = slots.findIndex((slot) => set.has(slot))
      if (position >= 0) return ids[position]
    }
    return undefined
  }

  /** The index of the first block whose last id is not below the given id; the number of blocks when there is no such block. */
  #blockOf(id: string): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#blocks[middle]?.ids.at(-1)
      if (last !== undefined && last < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

function firstNotBelow(ids: readonly string[], id: string): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const candidate = ids[middle]
    if (candidate !== undefined && candidate < id) low = middle + 1
    else high = middle
  }
  return low
}
