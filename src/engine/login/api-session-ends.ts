import { dueAtOf } from '../../domain/login/api-session-end.ts'
import { StorageUnavailable, type WriteTransaction } from '../../ports/storage.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { type Call, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { apiSessionStanding } from '../credentials/api-session-standing.ts'
import { ifReadable } from '../records/damaged-records.ts'
import { deletePart, endReasonsOf } from '../records/deletion.ts'
import { dueRecords } from '../records/due-records.ts'
import { MORE, type Part, writeInParts } from '../records/parts.ts'
import type { SessionActivity } from './api-session-activity.ts'

/** How API sessions end: by somebody, by time, or with the credentials that they stand on. Their service sessions end with them. */
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

  /** Ends every API session that is over by time, whichever process began it. Answers when (epoch ms) the next one is due. */
  async endOverdue(): Promise<number | undefined> {
    const { clock, storage } = this.#context
    for (;;) {
      const { ids, next } = await storage.read((tx) => dueRecords(tx, apiSessions, clock.now()))
      if (ids.length === 0) return next
      await this.endOver(ids, 'timeout')
    }
  }

  /** Ends those of the API sessions that are over, with their service sessions; of the others, says when to look again. */
  async endOver(ids: readonly string[], reason: 'timeout' | undefined): Promise<void> {
    const { clock, settings } = this.#context
    const work = async (tx: WriteTransaction, part: Part) => {
      const now = clock.now()
      for (const id of ids) {
        const stored = await tx.collection(apiSessions).get(id)
        if (stored === undefined) continue
        const known = { ...stored, lastActivityAt: this.#activity.lastActivityAt(stored) }
        if (part.isOver()) return MORE
        const standing = await ifReadable(() => apiSessionStanding(this.#context, tx, known, now))
        if (standing?.is === 'over') {
          if ((await deletePart(tx, apiSessions, id, part)) === MORE) return MORE
        } else if (stored.dueAt <= now) {
          // A session from the future of a clock that went back may be due at no later instant than now.
          const dueAt = Math.max(dueAtOf(known, settings, now), now + 1)
          await tx.collection(apiSessions).update({ ...known, dueAt })
          part.count()
        }
      }
      return undefined
    }
    const reasons = { ...endReasonsOf(apiSessions), ...(reason !== undefined && { apiSessions: reason }) }
    await writeInParts(this.#context, SYSTEM_CALL, work, reasons)
  }

  /** The holder of an ended session is refused whether or not the storage takes the end down. */
  async endForGood(id: string): Promise<void> {
    try {
      await this.endOver([id], 'timeout')
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error
    }
  }
}
