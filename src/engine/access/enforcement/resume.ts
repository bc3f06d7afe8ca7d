import { sessions } from '../../../resources/access/sessions.ts'
import type { EngineContext } from '../../context/context.ts'
import { judgeAndEnd } from './access-enforcement.ts'

/**
 * Takes up what a store holds from before: every session is judged, so that none outlives what carried it. What time ended
 * meanwhile is ended once the first requests are answered, which judge every session that they use.
 */
export async function resume(context: EngineContext): Promise<void> {
  const stored = await context.storage.read((tx) => tx.collection(sessions).findIds())
  await judgeAndEnd(context, async () => stored)
  context.timetable.notLater('overdue', 'next', context.clock.now())
}
