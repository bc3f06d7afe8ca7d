import { z } from 'zod'
import type { Caller } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import { narrowed } from '../../resources/declaration/narrowed.ts'
import { described } from '../../resources/declaration/words.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import type { CurrentApiSession as Shown } from '../../resources/wire/wire-names.ts'
import { wireSchema } from '../operations/wire-schema.ts'

/** An API session as its holder sees it. */
export const CurrentApiSession = narrowed<Shown>()(
  z.intersection(
    wireSchema(apiSessions),
    described(z.object({ expirationSeconds: z.int(), expiresAt: z.iso.datetime() }), {
      expirationSeconds: 'The seconds without use after which the session ends.',
      expiresAt: 'When it ends without further use, RFC 3339.',
    }),
  ),
)

/** The caller's API session in its wire form. */
export async function currentApiSession(engine: ControllerEngine, caller: Caller) {
  const shown = await engine.reader.show({ by: 'caller', caller }, apiSessions, caller.apiSession)
  return { ...shown, ...engine.apiSessions.ownMembers(caller) }
}
