import { IdOrder } from './id-order.ts'
import type { SlotSet } from './slot-set.ts'

/** Sorting k ids costs about this many times k·log2(k) visits of the ordered list. */
const SORT_COST = 16

/** Gives each id a dense slot number; the slot of a released id is given to the next new one. */
export class SlotTable {
  readonly #slots = new Map<string, number>()
  readonly #ids: (string | undefined)[] = []
  readonly #free: number[] = []
  readonly #order = new IdOrder()

  /** The slot of the id, taken now when it has none. */
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

  /** How many ids have a slot. */
  get size(): number {
    return this.#slots.size
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id)
  }

  idOf(slot: number): string | undefined {
    return this.#ids[slot]
  }

  /** The id of each slot as of now; undefined where a slot is free. */
  ids(): readonly (string | undefined)[] {
    return this.#ids.slice()
  }

  /** The ids of the slots, in ascending code-unit order: few are sorted, many are read off the ordered list. */
  idsOf(set: SlotSet): string[] {
    const size = set.size
    if (size * Math.log2(size + 1) * SORT_COST > this.#slots.size) return this.#order.idsIn(set)
    return set
      .slots()
      .flatMap((slot) => this.#ids[slot] ?? [])
      .sort()
  }

  /** The lowest id, in code-unit order, of the slots. */
  lowestOf(set: SlotSet): string | undefined {
    // Where many have a slot in the set, one of the first in order has.
    if (set.size * set.size > this.#slots.size) return this.#order.lowestIn(set)
    const ids = set.slots().flatMap((slot) => this.#ids[slot] ?? [])
    return ids.length === 0 ? undefined : ids.reduce((lowest, id) => (id < lowest ? id : lowest))
  }
}
