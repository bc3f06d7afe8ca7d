interface Waiting {
  readonly weight: number
  begin(): void
}

/**
 * Lets a number of pieces of work run at once, of several parties in turns: a party waits for one piece of each other party,
 * however many that one hands in. Work that fails leaves as work that succeeds.
 */
export class FairGate {
  readonly #places: number
  /** The attempts of each party that wait to begin, in the order of their turns; a party that waits for nothing is not there. */
  readonly #parties = new Map<string, Waiting[]>()
  #taken = 0
  #waiting = 0

  /** Work of the weight `places` together runs at once; heavier work runs alone. */
  constructor(places: number) {
    this.#places = places
  }

  /** How many pieces of work wait for their turn. */
  get waiting(): number {
    return this.#waiting
  }

  /** Reports whether nothing runs or waits. */
  get isIdle(): boolean {
    return this.#taken === 0
  }

  /** Runs work of a party when its turn comes. Answers and throws what the work does. */
  async run<T>(party: string, weight: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting === 0 && this.#fits(weight)) this.#taken += weight
    else await this.#turnOf(party, weight)
    try {
      return await work()
    } finally {
      this.#taken -= weight
      this.#beginNext()
    }
  }

  #fits(weight: number): boolean {
    return this.#taken === 0 || this.#taken + weight <= this.#places
  }

  #turnOf(party: string, weight: number): Promise<void> {
    this.#waiting += 1
    return new Promise((begin) => {
      const own = this.#parties.get(party)
      if (own === undefined) this.#parties.set(party, [{ weight, begin }])
      else own.push({ weight, begin })
    })
  }

  /** Places go straight to those who wait: a newcomer cannot overtake. */
  #beginNext(): void {
    for (const [party, [first, ...others]] of this.#parties) {
      if (first === undefined || !this.#fits(first.weight)) return
      this.#parties.delete(party)
      if (others.length > 0) this.#parties.set(party, others)
      this.#waiting -= 1
      this.#taken += first.weight
      first.begin()
    }
  }
}
