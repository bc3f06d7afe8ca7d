import type { EngineContext } from '../../context/context.ts'
import { StorageUnavailable } from '../../ports/record-storage.ts'

/** Milliseconds that a dial waits for the storage. Clients give up after 5 to 15 s, and would not learn that the storage is away. */
const PATIENCE_MS = 3000
/** Work that the storage has not answered in time. Beyond it dials are refused at once, so that a storage that hangs holds no more. */
const MOST_OVERDUE = 1000
/** Milliseconds after which overdue work counts as lost, if the storage has answered other work since. */
const LOST_MS = 60_000

/**
 * Limits how long dials wait for a storage that hangs, and how many. While all places are taken by overdue work, one dial at a time
 * finds out whether the storage answers again. Then the places of lost work are free, a thousand in a minute at most.
 */
export class StorageAnswers {
  readonly #context: EngineContext
  readonly #waiting = new Map<string, () => void>()
  /** Overdue work, the earliest first, with the instant (epoch ms) since which it is overdue. */
  readonly #overdue = new Map<object, number>()
  /** Epoch ms of the latest answer in time. */
  #answeredAt = Number.NEGATIVE_INFINITY
  /** Epoch ms of the latest dial that was let through while no place was free. */
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(context: EngineContext) {
    this.#context = context
    context.timetable.onDue('dial-facts', async (ids) => {
      for (const id of ids) this.#waiting.get(id)?.()
    })
  }

  /** Settles as `work` does; throws {@link StorageUnavailable} when that takes too long. The work itself goes on then. */
  within<T>(circuitId: string, work: () => Promise<T>): Promise<T> {
    const { clock, timetable } = this.#context
    const place = {}
    if (!this.#takes(place, clock.now())) return Promise.reject(unanswered())
    return new Promise((resolve, reject) => {
      let isOverdue = false
      const over = () => {
        this.#overdue.delete(place)
        if (isOverdue) return
        this.#answeredAt = clock.now()
        this.#forget(circuitId)
      }
      this.#waiting.set(circuitId, () => {
        isOverdue = true
        this.#overdue.set(place, clock.now())
        this.#forget(circuitId)
        reject(unanswered())
      })
      timetable.set('dial-facts', circuitId, clock.now() + PATIENCE_MS)
      work().then(resolve, reject).finally(over)
    })
  }

  /** Whether there is a place for further work. */
  #takes(place: object, now: number): boolean {
    for (const [lost, since] of this.#overdue) {
      if (since >= this.#answeredAt || now - since < LOST_MS) break
      this.#overdue.delete(lost)
    }
    if (this.#overdue.size < MOST_OVERDUE) return true
    if (now - this.#triedAt < PATIENCE_MS) return false
    this.#triedAt = now
    // It has the place of the earliest from the beginning: the count stays, and no further dial is let through beside it.
    const [earliest] = this.#overdue.keys()
    if (earliest !== undefined) this.#overdue.delete(earliest)
    this.#overdue.set(place, now)
    return true
  }

  #forget(circuitId: string): void {
    this.#waiting.delete(circuitId)
    this.#context.timetable.set('dial-facts', circuitId, undefined)
  }
}

function unanswered(): StorageUnavailable {
  return new StorageUnavailable('unreachable', `no answer within ${PATIENCE_MS / 1000} s`)
}
