import { endOf } from '../../domain/login/api-session-end.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'

/** Looks after the end of an API session from its start on. */
export function followApiSessions({ timetable, settings }: EngineContext, changes: readonly RecordedChange[]): void {
  for (const { operation, id, before, after } of changesTo(changes, apiSessions)) {
    const isRenewed = operation === 'update' && after?.tokensExpireAt !== before?.tokensExpireAt
    if ((operation === 'insert' || isRenewed) && after !== undefined) {
      timetable.set('api-session', id, endOf(after, settings))
    } else if (operation === 'delete') timetable.set('api-session', id, undefined)
  }
}
