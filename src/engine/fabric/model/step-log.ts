/** What changed in the model by the revision `index`, in the form of the wire. */
export interface ModelStep {
  readonly index: number
  readonly events: Uint8Array
}

const MOST_STEPS = 2000
const MOST_BYTES = 32 * 1024 * 1024

/** The latest steps of the model: for routers that come back, and to bring a written model up to date. */
export class StepLog {
  #steps: ModelStep[] = []
  #bytes = 0
  /** Every step after this index is here. */
  #completeFrom: number

  constructor(index: number) {
    this.#completeFrom = index
  }

  add(step: ModelStep): void {
    this.#steps.push(step)
    this.#bytes += step.events.length
    while (this.#steps.length > MOST_STEPS || this.#bytes > MOST_BYTES) {
      const dropped = this.#steps.shift()
      if (dropped === undefined) return
      this.#bytes -= dropped.events.length
      this.#completeFrom = dropped.index
    }
  }

  /** The steps after an index, oldest first; undefined when some of them are not here any more. */
  after(index: number): readonly ModelStep[] | undefined {
    return index < this.#completeFrom ? undefined : this.#steps.filter((step) => step.index > index)
  }
}
