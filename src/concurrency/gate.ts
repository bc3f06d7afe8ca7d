/**
 * Called when work has to wait for its turn. `giveUp` ends the waiting with an error, and the work is never begun. The function that it
 * answers is called when the turn comes.
 */
export type Patience = (giveUp: (reason: unknown) => void) => () => void

/**
 * Lets a number of pieces of work run at once; the others wait in the order of their arrival. A free place goes straight to the first of
 * them, so that a newcomer cannot overtake the queue. Work that fails leaves as work that succeeds. With one place, work runs one after the
 * other.
 *
 * @example
 * const writes = new Gate(1)
 * await writes.run(async () => 'nobody else writes meanwhile')
 */
export class Gate {
  readonly #places: number
  /** In the order of arrival. */
  readonly #waiting = new Set<() => void>()
  readonly #idle: (() => void)[] = []
  #running = 0

  constructor(places: number) {
    this.#places = places
  }

  /** Reports whether new work would begin at once. */
  get isOpen(): boolean {
    return this.#running < this.#places
  }

  /**
   * Runs work when its turn comes, and never before the caller goes on: work that is handed in until then counts as simultaneous. Answers
   * and throws what the work does. Without `patience` it waits as long as it takes.
   *
   * @example
   * const answer = await new Gate(8).run(async () => 'one of eight at once')
   */
  async run<T>(work: () => Promise<T>, patience?: Patience): Promise<T> {
    await this.#turn(patience)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /**
   * Resolves when nothing runs and nobody waits.
   *
   * @example
   * const writes = new Gate(1)
   * void writes.run(async () => 'written')
   * await writes.idle() // it is written
   */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #turn(patience: Patience | undefined): Promise<void> | undefined {
    if (this.isOpen) {
      this.#running += 1
      return undefined
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        stopWaiting?.()
        resolve()
      }
      this.#waiting.add(begin)
      const stopWaiting = patience?.((reason) => {
        if (this.#waiting.delete(begin)) reject(reason)
      })
    })
  }

  #leave(): void {
    const [next] = this.#waiting
    if (next !== undefined) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#running -= 1
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

interface Waiting {
  readonly weight: number
  begin(): void
}

/**
 * Lets a number of pieces of work run at once, taking turns between parties. A party waits for one piece of each other party, however many
 * pieces that party hands in. Work that fails leaves as work that succeeds.
 */
export class FairGate {
  readonly #places: number
  /** The waiting work of each party, in the order of turns; a party without waiting work is absent. */
  readonly #parties = new Map<string, Waiting[]>()
  #taken = 0
  #waiting = 0

  /** Work with a total weight up to `places` runs at once; heavier work runs alone. */
  constructor(places: number) {
    this.#places = places
  }

  /** The number of pieces of work that wait for their turn. */
  get waiting(): number {
    return this.#waiting
  }

  /** The number of pieces of work of a party that wait for their turn. */
  waitingOf(party: string): number {
    return this.#parties.get(party)?.length ?? 0
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

  /** Free places go straight to waiting work: a newcomer cannot overtake. */
  #beginNext(): void {
    for (const [party, waiting] of this.#parties) {
      const [first] = waiting
      if (first === undefined || !this.#fits(first.weight)) return
      waiting.shift()
      // Its next piece waits for one of each other party.
      this.#parties.delete(party)
      if (waiting.length > 0) this.#parties.set(party, waiting)
      this.#waiting -= 1
      this.#taken += first.weight
      first.begin()
    }
  }
}
