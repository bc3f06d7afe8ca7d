import { endOf } from '../../../domain/login/api-session-end.ts'
import { sessions } from '../../../resources/access/sessions.ts'
import { apiSessions } from '../../../resources/login/api-sessions.ts'
import type { EngineContext } from '../../context/context.ts'
import { judgeAndEnd } from './access-enforcement.ts'

/**
 * Takes up what a store holds from before: every session is judged, so that none outlives what carried it, and posture
 * deadlines and the ends of idle API sessions are looked after again.
 */
export async function resume(context: EngineContext): Promise<void> {
  const { stored, idle } = await context.storage.read(async (tx) => ({
    stored: await tx.collection(sessions).findIds(),
    idle: (await tx.collection(apiSessions).find()).items,
  }))
  for (const session of idle) context.timetable.set('api-session', session.id, endOf(session, context.settings))
  await judgeAndEnd(context, async () => stored)
}
