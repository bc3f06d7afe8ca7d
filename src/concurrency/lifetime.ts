/**
 * Whether something may still be used: from its beginning until it ends, which it does once.
 *
 * @example
 * const lifetime = new Lifetime('the storage is closed')
 * lifetime.assertOpen()
 * await lifetime.close(() => storage.close())
 */
export class Lifetime {
  readonly #over: string
  #isOpen = true
  #closing: Promise<void> | undefined

  /** `over` is what the error says that who uses it after its end is thrown. */
  constructor(over: string) {
    this.#over = over
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * @throws Error when it has ended.
   *
   * @example
   * const lifetime = new Lifetime('the transaction has ended')
   * lifetime.assertOpen()
   */
  assertOpen(): void {
    if (!this.#isOpen) throw new Error(this.#over)
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
   * first of those threw. Whoever calls it again gets the same promise, and nothing is closed twice.
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
