import { endOf } from '../../domain/login/api-session-end.ts'
import { StorageUnavailable, type WriteTransaction } from '../../ports/storage.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { type Call, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { deletePart, endReasonsOf } from '../records/deletion.ts'
import { MORE, type Part, writeInParts } from '../records/parts.ts'
import type { SessionActivity } from './api-session-activity.ts'

/** How API sessions end: by somebody, or by time. Their service sessions end with them. */
export class SessionEnds {
  readonly #context: EngineContext
  readonly #activity: SessionActivity

  constructor(context: EngineContext, activity: SessionActivity) {
    this.#context = context
    this.#activity = activity
  }

  /** Ends an API session with its service sessions. */
  async end(call: Call, id: string): Promise<void> {
    await writeInParts(
      this.#context,
      call,
      (tx, part) => deletePart(tx, apiSessions, id, part),
      endReasonsOf(apiSessions),
    )
  }

  /** Ends those of the API sessions that nobody used for too long, with their service sessions. */
  async endIdle(ids: readonly string[]): Promise<void> {
    const { clock, settings, timetable } = this.#context
    const work = async (tx: WriteTransaction, part: Part) => {
      for (const id of ids) {
        const stored = await tx.collection(apiSessions).get(id)
        if (stored === undefined) continue
        const endsAt = endOf({ ...stored, lastActivityAt: this.#activity.lastActivityAt(stored) }, settings)
        if (endsAt > clock.now()) timetable.set('api-session', id, endsAt)
        else if (part.isOver() || (await deletePart(tx, apiSessions, id, part)) === MORE) return MORE
      }
      return undefined
    }
    await writeInParts(this.#context, SYSTEM_CALL, work, { ...endReasonsOf(apiSessions), apiSessions: 'timeout' })
  }

  /** The holder of an ended session is refused whether or not the storage takes the end down. */
  async endForGood(id: string): Promise<void> {
    try {
      await this.endIdle([id])
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error
    }
  }
}
