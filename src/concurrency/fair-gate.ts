/**
 * Lets one piece of work run after the other, of several parties in turns: what one of them hands in is waited for by the others
 * once, however much it is. Work that fails leaves as what succeeds does.
 */
export class FairGate {
  /** What each party waits to begin, in the order of their turns; a party that waits for nothing is not there. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isTaken = false
  #size = 0

  /** How much runs and waits. */
  get size(): number {
    return this.#size
  }

  /** Runs work of a party when its turn comes. Answers and throws what the work does. */
  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    this.#size += 1
    if (this.#isTaken) await this.#turnOf(party)
    this.#isTaken = true
    try {
      return await work()
    } finally {
      this.#size -= 1
      this.#beginNext()
    }
  }

  #turnOf(party: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(party)
      if (own === undefined) this.#waiting.set(party, [resolve])
      else own.push(resolve)
    })
  }

  /** The place stays taken when somebody gets it: a newcomer cannot overtake. */
  #beginNext(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#isTaken = false
      return
    }
    const [party, [first, ...others]] = next
    this.#waiting.delete(party)
    if (others.length > 0) this.#waiting.set(party, others)
    first?.()
  }
}
