/** An event as it is kept. */
export interface KeptEvent {
  /** One more than that of the event before. */
  readonly number: number
  readonly type: string
  /** Epoch ms. */
  readonly at: number
  /** The permission whose entities its readers may read; undefined for administrators alone. */
  readonly reader: string | undefined
  readonly facts: Readonly<Record<string, unknown>>
}

/** What an event costs beside its facts, bytes. */
const BASE_BYTES = 200

/** The latest events, in so many bytes at most: the oldest go. */
export class EventLog {
  readonly #most: number
  #events: KeptEvent[] = []
  #sizes: number[] = []
  /** How many at the beginning of the lists are gone. */
  #gone = 0
  #bytes = 0
  #last = 0

  constructor(most: number) {
    this.#most = most
  }

  /** The number of the latest event; 0 before the first. */
  get last(): number {
    return this.#last
  }

  append(event: Omit<KeptEvent, 'number'>): void {
    this.#last += 1
    const size = BASE_BYTES + 2 * JSON.stringify(event.facts).length
    this.#events.push({ ...event, number: this.#last })
    this.#sizes.push(size)
    this.#bytes += size
    while (this.#bytes > this.#most && this.#gone < this.#events.length) {
      this.#bytes -= this.#sizes[this.#gone] ?? 0
      this.#gone += 1
    }
    // Copied seldom, so that an event costs the same however many are kept.
    if (this.#gone < this.#events.length / 2) return
    this.#events = this.#events.slice(this.#gone)
    this.#sizes = this.#sizes.slice(this.#gone)
    this.#gone = 0
  }

  /** The events after a number, at most so many, and whether some after it are forgotten. */
  after(number: number, most: number): { readonly events: readonly KeptEvent[]; readonly isCut: boolean } {
    const first = this.#last - (this.#events.length - this.#gone) + 1
    const from = this.#gone + Math.max(number + 1 - first, 0)
    return { events: this.#events.slice(from, from + most), isCut: number + 1 < first }
  }
}
