import { Gate } from '../../concurrency/gate.ts'
import type { EngineContext } from '../../context/context.ts'
import { StorageUnavailable } from '../../ports/record-storage.ts'
import { RouterRefusal } from '../channels/channel-admission.ts'

/** Milliseconds without any answer of the storage after which a dial counts it as away: clients give up after 5 to 15 s, and would not learn of it. */
const PATIENCE_MS = 3000
/** Milliseconds that a dial waits in all while the storage answers others: its client is gone then. */
const LONGEST_MS = 10_000
/** Dials that ask the storage at once. Further ones wait in the order of their arrival, so that a storm of them is answered one after the other. */
const MOST_AT_ONCE = 64
/** Work that the storage has not answered in time. Beyond it dials are refused at once, so that a storage that hangs holds no more. */
const MOST_OVERDUE = 1000
/** Milliseconds after which overdue work counts as lost, if the storage has answered other work since. */
const LOST_MS = 60_000

/** A dial that waits for its turn, or for an answer. */
interface Wait {
  /** Epoch ms. */
  readonly askedAt: number
  giveUp(reason: Error): void
}

/**
 * Limits how long dials wait for a storage that hangs, and how many. While all places are taken by overdue work, one dial at a time
 * finds out whether the storage answers again. Then the places of lost work are free, a thousand in a minute at most.
 */
export class StorageAnswers {
  readonly #context: EngineContext
  readonly #turns = new Gate(MOST_AT_ONCE)
  readonly #waiting = new Map<string, Wait>()
  /** Overdue work, the earliest first, with the instant (epoch ms) since which it is overdue. */
  readonly #overdue = new Map<object, number>()
  /** Epoch ms of the latest answer in time. */
  #answeredAt = Number.NEGATIVE_INFINITY
  /** Epoch ms of the latest dial that was let through while no place was free. */
  #triedAt = Number.NEGATIVE_INFINITY

  constructor(context: EngineContext) {
    this.#context = context
    context.timetable.onDue('dial-facts', async (ids) => {
      for (const id of ids) this.#due(id)
    })
  }

  /**
   * Settles as `work` does. Throws {@link StorageUnavailable} when the storage answers no dial for too long, and {@link RouterRefusal} when too
   * many dials are before this one. Work that was begun goes on then.
   */
  async within<T>(circuitId: string, work: () => Promise<T>): Promise<T> {
    const { clock, timetable } = this.#context
    const wait: Wait = { askedAt: clock.now(), giveUp: () => undefined }
    this.#waiting.set(circuitId, wait)
    timetable.set('dial-facts', circuitId, wait.askedAt + PATIENCE_MS)
    try {
      return await this.#turns.run(
        () => this.#answer(wait, work),
        (giveUp) => {
          wait.giveUp = giveUp
          return () => undefined
        },
      )
    } finally {
      this.#waiting.delete(circuitId)
      timetable.set('dial-facts', circuitId, undefined)
    }
  }

  #answer<T>(wait: Wait, work: () => Promise<T>): Promise<T> {
    const { clock } = this.#context
    const place = {}
    if (!this.#takes(place, clock.now())) return Promise.reject(unanswered())
    return new Promise((resolve, reject) => {
      let isOverdue = false
      wait.giveUp = (reason) => {
        isOverdue = true
        this.#overdue.set(place, clock.now())
        reject(reason)
      }
      const over = () => {
        this.#overdue.delete(place)
        if (!isOverdue) this.#answeredAt = clock.now()
      }
      work().then(resolve, reject).finally(over)
    })
  }

  /** Gives up a dial whose time is over, or waits on while the storage answers others. */
  #due(circuitId: string): void {
    const wait = this.#waiting.get(circuitId)
    if (wait === undefined) return
    const { clock, timetable } = this.#context
    const now = clock.now()
    const awayAt = Math.max(wait.askedAt, this.#answeredAt) + PATIENCE_MS
    const until = Math.min(awayAt, wait.askedAt + LONGEST_MS)
    if (now < until) timetable.set('dial-facts', circuitId, until)
    else
      wait.giveUp(
        now < awayAt
          ? new RouterRefusal('internal', 'too many circuits', { hint: 'too-busy', circuitId })
          : unanswered(),
      )
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
}

function unanswered(): StorageUnavailable {
  return new StorageUnavailable('unreachable', `no answer within ${PATIENCE_MS / 1000} s`)
}
