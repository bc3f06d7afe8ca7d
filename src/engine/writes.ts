import type { WriteTransaction } from '../ports/storage.ts'
import { enforceAccess } from './access-enforcement.ts'
import { followApiSessions } from './api-session-follow-up.ts'
import type { Call } from './call.ts'
import { commit } from './commit.ts'
import type { EngineContext } from './context.ts'
import { RETRY_MS } from './timetable.ts'

/**
 * Runs `work` as one write, tells the host's listeners what changed, after the commit and in order, and lets follow what
 * must follow from it: sessions that lost their access are gone before the caller is answered.
 */
export async function writeAndTell<T>(
  context: EngineContext,
  call: Call,
  work: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  const { result, changes } = await commit(context, call, work)
  context.presence.follow(changes)
  await followApiSessions(context, changes)
  try {
    await enforceAccess(context, changes)
  } catch (error) {
    // The change is committed and its writer hears of the failure; what it took from sessions must not stay undone.
    context.timetable.notLater('access', 'every session', context.clock.now() + RETRY_MS)
    throw error
  }
  return result
}
