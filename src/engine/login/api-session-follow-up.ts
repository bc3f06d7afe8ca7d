import { apiSessions } from '../../resources/api-sessions.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'

/** Looks after an API session that nobody uses from its start to its end. */
export function followApiSessions({ timetable, settings }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { operation, id, after } of changesTo(changes, apiSessions)) {
    if (operation === 'insert' && after !== undefined) {
      timetable.set('api-session', id, after.lastActivityAt + settings.apiSessionTimeoutMs)
    } else if (operation === 'delete') timetable.set('api-session', id, undefined)
  }
}
