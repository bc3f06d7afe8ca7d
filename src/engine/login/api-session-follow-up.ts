import { forgetSession, sessionPosture } from '../../domain/posture/index.ts'
import { apiSessions } from '../../resources/api-sessions.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import { postureDataOf } from '../posture/posture-facts.ts'
import { storePostureData } from '../posture/posture-store.ts'

/** Looks after an API session that nobody uses from its start on, and forgets the endpoint state of those that ended. */
export async function followApiSessions(context: EngineContext, changes: readonly RecordedChange[]): Promise<void> {
  const ended = new Map<string, string>()
  for (const { operation, id, before, after } of changesTo(changes, apiSessions)) {
    if (operation === 'insert' && after !== undefined) {
      context.timetable.set('api-session', id, after.lastActivityAt + context.settings.apiSessionTimeoutMs)
    } else if (operation === 'delete' && before !== undefined) {
      context.timetable.set('api-session', id, undefined)
      ended.set(id, before.identityId)
    }
  }
  if (ended.size > 0) await forgetEndpoints(context, ended)
}

/** Takes out what was known of ended API sessions, given with their identities. */
async function forgetEndpoints(context: EngineContext, ended: ReadonlyMap<string, string>): Promise<void> {
  const isKnown = await context.storage.read(async (tx) => {
    for (const [id, identityId] of ended) {
      if (sessionPosture(await postureDataOf(tx, identityId), id) !== undefined) return true
    }
    return false
  })
  if (!isKnown) return
  await context.writes.run(SYSTEM_CALL, async (tx) => {
    for (const [id, identityId] of ended) {
      const data = await postureDataOf(tx, identityId)
      if (sessionPosture(data, id) === undefined) continue
      await storePostureData(tx, identityId, forgetSession(data, id), context.clock.now())
    }
  })
}
