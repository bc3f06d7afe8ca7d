/** Whether a transaction is still under way. */
export class Lifetime {
  #isOpen = true

  get isOpen(): boolean {
    return this.#isOpen
  }

  end(): void {
    this.#isOpen = false
  }

  /** Throws when the transaction has been committed or rolled back. */
  assertOpen(): void {
    if (!this.#isOpen) throw new Error('the transaction has ended: what it gave out cannot be used any more')
  }
}
