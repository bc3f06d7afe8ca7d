import { isIn } from '../../../domain/filter/index.ts'
import type { SessionEnd } from '../../../ports/events.ts'
import type { ReadTransaction, WriteTransaction } from '../../../ports/storage.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import type { RecordOf } from '../../../resources/declaration/resource.ts'
import { SYSTEM_CALL } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import type { RecordedChange } from '../../context/recorded-changes.ts'
import { RETRY_MS } from '../../context/timetable.ts'
import { newPart } from '../../records/parts.ts'
import { type Judgement, judgeSessions } from '../sessions/session-judgement.ts'
import { type Suspects, sessionsWith, suspectIds, suspectsOf } from './suspects.ts'

type Ending = { readonly session: RecordOf<typeof sessions>; readonly reason: SessionEnd }
type Outcome = Omit<Judgement, 'changed'>
type FindIds = (tx: ReadTransaction) => Promise<readonly string[]>

/** How many sessions are judged in one write at most. */
const SESSIONS = 50
/** How many are read and judged at a time before that. */
const READ_AT_ONCE = 500

/**
 * Ends the sessions from which a committed write took access, in as many further writes as that takes, before the writer is
 * answered.
 *
 * Between the writes, and after a crash there, such a session is still listed, but it opens nothing: whoever asks for
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
  const { ending } = await judgeAndEnd(context, (tx) => suspectIds(context, tx, suspects))
  for (const { session, reason } of ending.values()) {
    // What a change of its own role attributes takes from an identity is told with that change.
    if (reason !== 'access-lost' || suspects.identities.has(session.identityId)) continue
    const { identityId, serviceId, type } = session
    context.events.emit('access.changed', { identityId, serviceId, type, change: 'lost', at: context.clock.now() })
  }
}

/**
 * Judges the sessions that `find` finds, ends those that nothing carries any more, and notes when to look again. Who begins a
 * session meanwhile is judged by what is committed already, so that the sessions found first are all.
 */
export async function judgeAndEnd(context: EngineContext, find: FindIds): Promise<Outcome> {
  const found = await context.storage.read(find)
  const ending: Map<string, Ending> = new Map()
  const deadlines = new Map<string, number>()
  const turn = context.turns.begin()
  for (let first = 0; first < found.length; first += READ_AT_ONCE) {
    const outcome = await judgeSome(context, found.slice(first, first + READ_AT_ONCE))
    for (const [id, ended] of outcome.ending) ending.set(id, ended)
    for (const [id, at] of outcome.deadlines) deadlines.set(id, Math.min(at, deadlines.get(id) ?? at))
    await turn()
  }
  for (const [identityId, at] of deadlines) context.timetable.notLater('posture', identityId, at)
  return { ending, deadlines }
}

async function judgeSome(context: EngineContext, ids: readonly string[]): Promise<Outcome> {
  const judged = await context.storage.read(async (tx) =>
    judgeSessions(context, tx, await sessionsWith(tx, ids), context.clock.now()),
  )
  const unsettled = [...judged.ending.keys(), ...judged.changed.map(({ id }) => id)]
  const ending: Map<string, Ending> = new Map()
  const deadlines = new Map(judged.deadlines)
  for (let settled = 0; settled < unsettled.length; ) {
    const part = await settleInWrite(context, unsettled.slice(settled, settled + SESSIONS))
    settled += part.settled
    for (const [id, ended] of part.ending) ending.set(id, ended)
    for (const [identityId, at] of part.deadlines) {
      deadlines.set(identityId, Math.min(at, deadlines.get(identityId) ?? at))
    }
  }
  return { ending, deadlines }
}

/** A posture deadline of the identities came: their sessions are judged. */
export async function enforcePosture(context: EngineContext, identityIds: readonly string[]): Promise<void> {
  const { deadlines } = await judgeAndEnd(context, (tx) =>
    tx.collection(sessions).findIds({ where: isIn('identityId', identityIds) }),
  )
  for (const identityId of identityIds) context.timetable.set('posture', identityId, deadlines.get(identityId))
}

interface Settled extends Outcome {
  /** How many of the sessions were seen to, from the first one on. */
  readonly settled: number
}

/** Ends and changes sessions as far as one write should. */
async function settleInWrite(context: EngineContext, ids: readonly string[]): Promise<Settled> {
  const reasons = new Map<string, SessionEnd>()
  const work = async (tx: WriteTransaction): Promise<Settled> => {
    const part = newPart(context.clock)
    const { ending, changed, deadlines } = await judgeSessions(
      context,
      tx,
      await sessionsWith(tx, ids),
      context.clock.now(),
    )
    reasons.clear()
    const ended = new Map<string, Ending>()
    let settled = 0
    for (const id of ids) {
      if (part.isOver()) break
      const end = ending.get(id)
      const change = changed.find((session) => session.id === id)
      if (end !== undefined) {
        ended.set(id, end)
        reasons.set(id, end.reason)
        await tx.collection(sessions).delete(id)
      } else if (change !== undefined) await tx.collection(sessions).update(change)
      part.count()
      settled += 1
    }
    return { ending: ended, deadlines, settled }
  }
  return context.writes.run(SYSTEM_CALL, work, { sessions: reasons })
}
