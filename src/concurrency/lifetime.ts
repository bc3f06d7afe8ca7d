/**
 * Whether something may still be used: from its beginning until it ends, which it does once.
 *
 * @example
 * const lifetime = new Lifetime('the storage is closed')
 * lifetime.assertOpen()
 * await lifetime.close(() => storage.close())
 */
export class Lifetime {
  readonly #over: () => Error
  #isOpen = true
  #closing: Promise<void> | undefined

  /** A use after its end throws what `over` makes, or an `Error` that says it. */
  constructor(over: string | (() => Error)) {
    this.#over = typeof over === 'string' ? () => new Error(over) : over
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * @throws {Error} when it has ended.
   *
   * @example
   * const lifetime = new Lifetime('the transaction has ended')
   * lifetime.assertOpen()
   */
  assertOpen(): void {
    if (!this.#isOpen) throw this.#over()
  }

  /**
   * Ends it. Answers false when it had ended before.
   *
   * @example
   * const lifetime = new Lifetime('the transaction has ended')
   * if (lifetime.end()) console.log('it ended just now')
   */
  end(): boolean {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    return wasOpen
  }

  /**
   * Ends it, and then closes what it used, one step after the other, the rest also when a step fails. Rejects with what the
   * first of those threw. A second call gets the same promise, and nothing is closed twice.
   *
   * @example
   * const lifetime = new Lifetime('the network is closed')
   * await lifetime.close(() => controller.close(), () => storage.close())
   */
  close(...steps: readonly (() => unknown)[]): Promise<void> {
    this.end()
    this.#closing ??= inTurn(steps)
    return this.#closing
  }
}

async function inTurn(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
