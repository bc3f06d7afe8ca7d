import { SYSTEM_CALL } from '../../src/context/call.ts'
import type { EngineContext } from '../../src/context/context.ts'
import { services } from '../../src/facts/services/service.resource.ts'

const PAUSE_MS = 3

/** Somebody who writes one record again and again while others do something long. */
export class OtherWriter {
  readonly #context: EngineContext
  readonly #serviceId: string
  #longest = 0
  #isOver = false
  readonly #running: Promise<void>

  constructor(context: EngineContext, serviceId: string) {
    this.#context = context
    this.#serviceId = serviceId
    this.#running = this.#write()
  }

  /** For how long (ms) it waited at most for its write to be done; it writes no more. */
  async stop(): Promise<number> {
    this.#isOver = true
    await this.#running
    return this.#longest
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const asked = performance.now()
      await this.#context.writes.run(SYSTEM_CALL, async (tx) => {
        const known = await tx.collection(services).get(this.#serviceId)
        if (known !== undefined) await tx.collection(services).update({ ...known, tags: { asked } })
      })
      this.#longest = Math.max(this.#longest, performance.now() - asked)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
