import type { EngineContext } from '../../context/context.ts'
import { StorageUnavailable } from '../../ports/record-storage.ts'

/** Milliseconds that a dial waits for the storage. Clients give up after 5 to 15 s, and would not learn that the storage is away. */
const PATIENCE_MS = 3000
/** Work that the storage has not answered in time. Beyond it dials are refused at once, so that a storage that hangs holds no more. */
const MOST_OVERDUE = 1000

/** Limits how long dials wait for a storage that hangs. */
export class StorageAnswers {
  readonly #context: EngineContext
  readonly #waiting = new Map<string, () => void>()
  #overdue = 0

  constructor(context: EngineContext) {
    this.#context = context
    context.timetable.onDue('dial-facts', async (ids) => {
      for (const id of ids) this.#waiting.get(id)?.()
    })
  }

  /** Settles as `work` does; throws {@link StorageUnavailable} when that takes too long. The work itself goes on then. */
  within<T>(circuitId: string, work: () => Promise<T>): Promise<T> {
    if (this.#overdue >= MOST_OVERDUE) return Promise.reject(unanswered())
    const { clock, timetable } = this.#context
    return new Promise((resolve, reject) => {
      let isOverdue = false
      const over = () => {
        if (isOverdue) this.#overdue -= 1
        else this.#forget(circuitId)
      }
      this.#waiting.set(circuitId, () => {
        isOverdue = true
        this.#overdue += 1
        this.#forget(circuitId)
        reject(unanswered())
      })
      timetable.set('dial-facts', circuitId, clock.now() + PATIENCE_MS)
      work().then(resolve, reject).finally(over)
    })
  }

  #forget(circuitId: string): void {
    this.#waiting.delete(circuitId)
    this.#context.timetable.set('dial-facts', circuitId, undefined)
  }
}

function unanswered(): StorageUnavailable {
  return new StorageUnavailable('unreachable', `no answer within ${PATIENCE_MS / 1000} s`)
}
