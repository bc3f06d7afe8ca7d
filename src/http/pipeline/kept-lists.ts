import { concatenated } from '../../base/bytes.ts'
import { BoundedMap } from '../../base/collections.ts'
import type { WireTexts } from '../../context/wire-texts.ts'

/** How the answer with a list begins. */
export const LIST_HEAD = '{"data":['

const ENCODER = new TextEncoder()
const HEAD = ENCODER.encode(LIST_HEAD)
const COMMA = ENCODER.encode(',')
/** Items that are written between two looks at the clock. */
export const ITEMS_PER_LOOK = 32
/** Lists that are kept at once: 16 MB in all. */
const MAX_KEPT = 64
/** Bytes of the largest list that is kept; a longer one is written for each answer. */
const MAX_BYTES = 262_144

interface KeptList {
  readonly items: readonly unknown[]
  readonly tail: string
  readonly bytes: Uint8Array
}

/**
 * Lists that hold the same objects again, as those of callers with the same rights do until an entity changes: their bytes are put
 * together once. Allocating memory for every long answer would make the garbage collector go through the whole heap.
 */
export class KeptLists {
  readonly texts: WireTexts
  /** By their first items. */
  readonly #kept = new BoundedMap<unknown, KeptList>(MAX_KEPT)

  constructor(texts: WireTexts) {
    this.texts = texts
  }

  /**
   * The bytes of a list's answer, with as many items as fit into `most` bytes, at least one; `undefined` when the texts keep no bytes of
   * an item. The caller must not change the bytes. `tailOf` gives the text after a number of items. Items are encoded a slice at a time.
   */
  async bytes(
    items: readonly unknown[],
    most: number,
    tailOf: (count: number) => string,
    turn: () => Promise<void> | undefined,
  ): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = []
    let length = 0
    for (const item of items) {
      if (parts.length % ITEMS_PER_LOOK === ITEMS_PER_LOOK - 1) await turn()
      const part = this.texts.keptBytes(item)
      if (part === undefined) return undefined
      if (length + 1 + part.length > most && parts.length > 0) break
      length += 1 + part.length
      parts.push(part)
    }
    const tail = tailOf(parts.length)
    const known = this.#kept.get(items[0])
    if (known !== undefined && known.tail === tail && isSame(known.items, items)) return known.bytes
    const bytes = listOf(parts, tail)
    if (bytes.length <= MAX_BYTES) this.#kept.set(items[0], { items, tail, bytes })
    return bytes
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, position) => item === other[position])
}

function listOf(parts: readonly Uint8Array[], tail: string): Uint8Array {
  const items = parts.flatMap((part, position) => (position === 0 ? [part] : [COMMA, part]))
  return concatenated([HEAD, ...items, ENCODER.encode(tail)])
}
