import { callerOf } from '../../engine/context/call.ts'
import { DONE } from '../operations/answers.ts'
import { defineOperation } from '../operations/define-operation.ts'
import { CurrentApiSession, currentApiSession } from './shown-api-session.ts'

/** Reading one's own API session, and logging out. */
export const currentApiSessionOperations = [
  defineOperation(
    {
      route: 'GET /current-api-session',
      summary: 'Shows the API session of the caller and keeps it alive',
      description: '`authQueries` says what is still to be proved before other operations are open.',
      access: 'partial',
      data: CurrentApiSession,
    },
    async ({ engine, call }) => ({ data: await currentApiSession(engine, callerOf(call)) }),
  ),
  defineOperation(
    {
      route: 'DELETE /current-api-session',
      summary: 'Ends the API session of the caller',
      description: 'Sessions that it granted end with it.',
      access: 'partial',
    },
    async ({ engine, call }) => {
      await engine.apiSessions.end(call, callerOf(call).apiSession.id)
      return DONE
    },
  ),
] as const
