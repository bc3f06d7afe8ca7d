import { sessions } from '../../../resources/access/sessions.ts'
import type { EngineContext } from '../../context/context.ts'
import { judgeAndEnd } from './access-enforcement.ts'

/**
 * Takes up what a store holds from before: every session is judged, so that none outlives what carried it, and what time
 * ends is looked after again.
 */
export async function resume(context: EngineContext): Promise<void> {
  const stored = await context.storage.read((tx) => tx.collection(sessions).findIds())
  await judgeAndEnd(context, async () => stored)
  await context.timetable.look('overdue')
}
