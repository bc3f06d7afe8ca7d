/** Bytes of one sender before the turn of the next one; a longer item is one turn. */
const TURN_BYTES = 32_768

interface Line<T> {
  items: { readonly item: T; readonly bytes: number }[]
  next: number
  /** The bytes of the items that wait. */
  bytes: number
}

/**
 * Items of many senders that take turns, so that one with much waiting does not delay one with little. The items of a sender keep their order.
 */
export class FairQueue<T> {
  /** By sender, in the order of their turns. */
  readonly #lines = new Map<string | number, Line<T>>()

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /** The bytes of a sender that wait. */
  bytesOf(sender: string | number): number {
    return this.#lines.get(sender)?.bytes ?? 0
  }

  add(sender: string | number, item: T, bytes: number): void {
    const line = this.#lines.get(sender)
    if (line === undefined) this.#lines.set(sender, { items: [{ item, bytes }], next: 0, bytes })
    else {
      line.items.push({ item, bytes })
      line.bytes += bytes
    }
  }

  /** Takes the items of the next turn. */
  takeTurn(): readonly T[] {
    const [first] = this.#lines
    if (first === undefined) return []
    const [sender, line] = first
    const taken: T[] = []
    let total = 0
    for (; line.next < line.items.length; line.next += 1) {
      const entry = line.items[line.next]
      if (entry === undefined || (total > 0 && total + entry.bytes > TURN_BYTES)) break
      total += entry.bytes
      taken.push(entry.item)
    }
    this.#lines.delete(sender)
    line.bytes -= total
    if (line.next === line.items.length) return taken
    // Taken items stay until they are most of the line: each turn would copy the rest.
    if (line.next > line.items.length / 2) {
      line.items = line.items.slice(line.next)
      line.next = 0
    }
    this.#lines.set(sender, line)
    return taken
  }
}
