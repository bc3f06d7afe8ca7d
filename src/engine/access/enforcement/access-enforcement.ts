import type { SessionEnd } from '../../../ports/events.ts'
import type { ReadTransaction, WriteTransaction } from '../../../ports/storage.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import type { RecordedChange } from '../../context/recorded-changes.ts'
import { RETRY_MS } from '../../context/timetable.ts'
import { type Judgement, judgeSessions } from '../sessions/session-judgement.ts'
import { type Suspects, sessionsOf, suspectSessions, suspectsOf } from './suspects.ts'

type FindSessions = (tx: ReadTransaction) => Promise<readonly RecordOf<typeof sessions>[]>

/**
 * Ends the sessions from which a committed write took access, in one further write, before the writer is answered.
 *
 * Between the two writes, and after a crash there, such a session is still listed, but it opens nothing: whoever asks for
 * a session is judged anew, and a restart judges every stored session before it answers its first request.
 */
export async function enforceAccess(context: EngineContext, changes: readonly RecordedChange[]): Promise<void> {
  const suspects = suspectsOf(changes)
  if (Object.values(suspects).every(({ size }) => size === 0)) return
  try {
    await endSuspects(context, suspects)
  } catch (error) {
    // The change is committed and its writer hears of the failure; what it took from sessions must not stay undone.
    context.timetable.notLater('access', 'every session', context.clock.now() + RETRY_MS)
    throw error
  }
}

async function endSuspects(context: EngineContext, suspects: Suspects): Promise<void> {
  const { ending } = await judgeAndEnd(context, (tx) => suspectSessions(context, tx, suspects))
  for (const { session, reason } of ending.values()) {
    // What a change of its own role attributes takes from an identity is told with that change.
    if (reason !== 'access-lost' || suspects.identities.has(session.identityId)) continue
    const { identityId, serviceId, type } = session
    context.events.emit('access.changed', { identityId, serviceId, type, change: 'lost', at: context.clock.now() })
  }
}

/** Judges the sessions that `find` finds, ends those that nothing carries any more, and notes when to look again. */
export async function judgeAndEnd(context: EngineContext, find: FindSessions): Promise<Judgement> {
  const judged = await context.storage.read(async (tx) =>
    judgeSessions(context, tx, await find(tx), context.clock.now()),
  )
  const isSettled = judged.ending.size === 0 && judged.changed.length === 0
  const judgement = isSettled ? judged : await judgeInWrite(context, find)
  for (const [identityId, at] of judgement.deadlines) context.timetable.notLater('posture', identityId, at)
  return judgement
}

/** A posture deadline of the identities came: their sessions are judged. */
export async function enforcePosture(context: EngineContext, identityIds: readonly string[]): Promise<void> {
  const { deadlines } = await judgeAndEnd(context, (tx) => sessionsOf(tx, 'identityId', identityIds))
  for (const identityId of identityIds) context.timetable.set('posture', identityId, deadlines.get(identityId))
}

async function judgeInWrite(context: EngineContext, find: FindSessions): Promise<Judgement> {
  const reasons = new Map<string, SessionEnd>()
  const work = async (tx: WriteTransaction) => {
    const judgement = await judgeSessions(context, tx, await find(tx), context.clock.now())
    reasons.clear()
    for (const [id, { reason }] of judgement.ending) {
      reasons.set(id, reason)
      await tx.collection(sessions).delete(id)
    }
    for (const session of judgement.changed) await tx.collection(sessions).update(session)
    return judgement
  }
  return context.writes.run(SYSTEM_CALL, work, { sessions: reasons })
}
