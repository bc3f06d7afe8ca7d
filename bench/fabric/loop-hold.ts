/**
 * Measures for how long the event loop is held at once, in milliseconds of this thread's processor time: what other programs of
 * the machine take meanwhile is not counted.
 */
export class LoopHold {
  #longest = 0
  #last = used()
  readonly #timer = setInterval(() => {
    const now = used()
    this.#longest = Math.max(this.#longest, now - this.#last)
    this.#last = now
  }, 1)

  /** The longest since the beginning, or since it was asked last. */
  take(): number {
    const longest = this.#longest
    this.#longest = 0
    return longest
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
