import type { Frame } from './frame.ts'

/** Milliseconds within which a router that is connected again reports its links; it does so at once. */
const GREETING_MS = 2000

/**
 * The messages that a router had in its queue as it lost its channel and sends when it is connected again: all that it numbered
 * before the report of its links, with which it greets. Who asked for a circuit that long ago has given up meanwhile, and
 * the host would wait for a client that never comes.
 */
export class Backlog {
  /** The sequence of the greeting; 0 where none came in time, so that nothing counts as older. */
  readonly #greeting: Promise<number>
  #greeted: (sequence: number) => void = () => undefined

  constructor() {
    this.#greeting = new Promise((resolve) => {
      this.#greeted = resolve
      setTimeout(() => resolve(0), GREETING_MS).unref()
    })
  }

  /** The router greets; later reports change nothing. */
  end({ sequence }: Frame): void {
    this.#greeted(sequence)
  }

  /** Whether a message is of the backlog, as soon as that is known. */
  async holds({ sequence }: Frame): Promise<boolean> {
    return sequence < (await this.#greeting)
  }
}
