import type { SlotSet } from './slot-set.ts'

/** A full block is split in two: an insertion moves at most this many entries, however many ids there are. */
const BLOCK = 512

interface Block {
  readonly ids: string[]
  readonly slots: number[]
}

/** Ids with their slots, always in ascending code-unit order: large answers are read off instead of sorted. */
export class IdOrder {
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

  /** The ids whose slots are in the set, ascending; walks over all ids. */
  idsIn(set: SlotSet): string[] {
    const answer = new Array<string>(set.size)
    let found = 0
    for (const { ids, slots } of this.#blocks) {
      for (let i = 0; i < ids.length; i += 1) {
        const id = ids[i]
        const slot = slots[i]
        if (id === undefined || slot === undefined || !set.has(slot)) continue
        answer[found] = id
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

  /** The first block whose last id is not below the given one; one past the end when there is none. */
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
