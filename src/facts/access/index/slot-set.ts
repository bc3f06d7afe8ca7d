/** Up to this many slots a set is a short list; above it a bitset. A rare attribute then costs bytes, not a bit per entity. */
const FEW = 64

const NO_WORDS = new Uint32Array(0)

/** A set of slot numbers: a short list while it has few members, a growable bitset from then on. */
export class SlotSet {
  #few: number[] | undefined = []
  #words = NO_WORDS
  /** Members of the bitset; undefined after a bulk operation, until the next query. */
  #count: number | undefined = 0

  get size(): number {
    if (this.#few !== undefined) return this.#few.length
    this.#count ??= countBits(this.#words)
    return this.#count
  }

  has(slot: number): boolean {
    if (this.#few !== undefined) return this.#few.includes(slot)
    const index = slot >>> 5
    return index < this.#words.length && ((this.#words[index] ?? 0) & (1 << (slot & 31))) !== 0
  }

  add(slot: number): void {
    if (this.has(slot)) return
    if (this.#few !== undefined && this.#few.length < FEW) {
      this.#few.push(slot)
      return
    }
    const index = slot >>> 5
    this.#toBitset(index + 1)
    this.#words[index] = (this.#words[index] ?? 0) | (1 << (slot & 31))
    if (this.#count !== undefined) this.#count += 1
  }

  delete(slot: number): void {
    if (!this.has(slot)) return
    if (this.#few !== undefined) {
      this.#few.splice(this.#few.indexOf(slot), 1)
      return
    }
    const index = slot >>> 5
    this.#words[index] = (this.#words[index] ?? 0) & ~(1 << (slot & 31))
    if (this.#count !== undefined) this.#count -= 1
  }

  /** Adds every member of the other set. */
  addAll(other: SlotSet): void {
    if (other.#few !== undefined) {
      for (const slot of other.#few) this.add(slot)
      return
    }
    const theirs = other.#words
    if (this.#few?.length === 0) {
      this.#few = undefined
      if (theirs.length > this.#words.length) this.#words = theirs.slice()
      else this.#words.set(theirs)
      this.#count = other.#count
      return
    }
    this.#toBitset(theirs.length)
    const ours = this.#words
    for (let i = 0; i < theirs.length; i += 1) ours[i] = (ours[i] ?? 0) | (theirs[i] ?? 0)
    this.#count = undefined
  }

  /** Removes every member, but keeps the allocated memory. */
  clear(): void {
    this.#words.fill(0)
    this.#few = []
    this.#count = 0
  }

  /** Reports whether the sets share a member; stops at the first. */
  intersects(other: SlotSet): boolean {
    if (this.#few !== undefined) return this.#few.some((slot) => other.has(slot))
    if (other.#few !== undefined) return other.#few.some((slot) => this.has(slot))
    const ours = this.#words
    const theirs = other.#words
    const shared = Math.min(ours.length, theirs.length)
    for (let i = 0; i < shared; i += 1) if (((ours[i] ?? 0) & (theirs[i] ?? 0)) !== 0) return true
    return false
  }

  /** The number of members that the other set lacks. */
  countWithout(other: SlotSet): number {
    if (this.#few !== undefined) return this.#few.filter((slot) => !other.has(slot)).length
    const theirs = other.#words
    if (other.#few !== undefined) return this.size - other.#few.filter((slot) => this.has(slot)).length
    let count = 0
    for (let i = 0; i < this.#words.length; i += 1) count += bitsIn((this.#words[i] ?? 0) & ~(theirs[i] ?? 0))
    return count
  }

  copy(): SlotSet {
    const copy = new SlotSet()
    copy.addAll(this)
    return copy
  }

  /** A new set of the common members. */
  meet(other: SlotSet): SlotSet {
    const shared = this.copy()
    shared.retainAll(other)
    return shared
  }

  /** A new set of the members that the other set lacks. */
  without(other: SlotSet): SlotSet {
    const rest = this.copy()
    rest.removeAll(other)
    return rest
  }

  /** Keeps only the members that the other set has too. */
  retainAll(other: SlotSet): void {
    if (this.#few !== undefined) {
      this.#few = this.#few.filter((slot) => other.has(slot))
    } else if (other.#few !== undefined) {
      this.#toList(other.#few.filter((slot) => this.has(slot)))
    } else {
      const ours = this.#words
      const theirs = other.#words
      const shared = Math.min(ours.length, theirs.length)
      for (let i = 0; i < shared; i += 1) ours[i] = (ours[i] ?? 0) & (theirs[i] ?? 0)
      ours.fill(0, shared)
      this.#count = undefined
      if (this.size <= FEW) this.#toList(this.slots())
    }
  }

  /** Removes every member that the other set has. */
  removeAll(other: SlotSet): void {
    if (this.#few !== undefined) {
      this.#few = this.#few.filter((slot) => !other.has(slot))
      return
    }
    if (other.#few !== undefined) {
      for (const slot of other.#few) this.delete(slot)
      return
    }
    const ours = this.#words
    const theirs = other.#words
    for (let i = 0; i < Math.min(ours.length, theirs.length); i += 1) ours[i] = (ours[i] ?? 0) & ~(theirs[i] ?? 0)
    this.#count = undefined
  }

  /** All members, in no particular order. */
  slots(): number[] {
    if (this.#few !== undefined) return [...this.#few]
    const words = this.#words
    const slots: number[] = []
    for (let i = 0; i < words.length; i += 1) {
      for (let rest = words[i] ?? 0; rest !== 0; rest &= rest - 1) slots.push(i * 32 + 31 - Math.clz32(rest & -rest))
    }
    return slots
  }

  #toList(slots: number[]): void {
    this.#few = slots
    this.#words = NO_WORDS
    this.#count = 0
  }

  /** Turns the set into a bitset of at least `length` words; doubling keeps growth by single slots cheap. */
  #toBitset(length: number): void {
    const few = this.#few
    const room = few === undefined ? length : few.reduce((most, slot) => Math.max(most, (slot >>> 5) + 1), length)
    if (room > this.#words.length) {
      const grown = new Uint32Array(Math.max(room, this.#words.length * 2))
      grown.set(this.#words)
      this.#words = grown
    }
    if (few === undefined) return
    for (const slot of few) this.#words[slot >>> 5] = (this.#words[slot >>> 5] ?? 0) | (1 << (slot & 31))
    this.#few = undefined
    this.#count = few.length
  }
}

function countBits(words: Uint32Array): number {
  let count = 0
  for (let i = 0; i < words.length; i += 1) count += bitsIn(words[i] ?? 0)
  return count
}

function bitsIn(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
