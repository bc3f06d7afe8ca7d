/**
 * The lifetime of an object that may be used until it ends. It ends once.
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

  /** A use after the end throws the error that `over` makes, or an `Error` with that text. */
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
   * Ends it; false if it had already ended.
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
   * Ends it, then runs the closing steps in order, also after a failed step. Rejects with the first failure. A second call gets the same
   * promise, and nothing is closed twice.
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
