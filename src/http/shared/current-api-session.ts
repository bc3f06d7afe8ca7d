import { z } from 'zod'
import { type Caller, callerOf } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { apiSessions } from '../../resources/api-sessions.ts'
import { described } from '../../resources/words.ts'
import { DONE } from '../operations/answers.ts'
import { defineOperation } from '../operations/operation.ts'
import { wireSchema } from '../operations/wire-schema.ts'

/** An API session as its holder sees it. */
export const CurrentApiSession = z.intersection(
  wireSchema(apiSessions),
  described(z.object({ expirationSeconds: z.int(), expiresAt: z.iso.datetime() }), {
    expirationSeconds: 'The seconds without use after which the session ends.',
    expiresAt: 'When it ends without further use, RFC 3339.',
  }),
)

/** The caller's API session in its wire form. */
export async function currentApiSession(engine: ControllerEngine, caller: Caller) {
  const shown = await engine.reader.show({ by: 'caller', caller }, apiSessions, caller.apiSession)
  return { ...shown, ...engine.apiSessions.ownMembers(caller) }
}

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
