import { z } from 'zod'
import { described } from '../../resources/declaration/words.ts'
import { defineOperation } from '../operations/define-operation.ts'

/** What clients poll to learn when to read their services again. */
export const serviceUpdates = defineOperation(
  {
    route: 'GET /current-api-session/service-updates',
    summary: 'Tells when something last changed that the caller sees of its services',
    description: 'Cheaper than the list itself: read that again when the instant is another one.',
    access: 'authenticated',
    data: described(z.object({ lastChangeAt: z.iso.datetime() }), { lastChangeAt: 'When it last changed, RFC 3339.' }),
  },
  async ({ engine, call }) => ({ data: { lastChangeAt: new Date(await engine.serviceUpdates.lastChangeAt(call)) } }),
)
