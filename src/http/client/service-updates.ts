import { z } from 'zod'
import { defineOperation } from '../operation.ts'

/** What clients poll to learn when to read their services again. */
export const serviceUpdates = defineOperation(
  {
    route: 'GET /current-api-session/service-updates',
    summary: 'Tells when something last changed that the caller sees of its services',
    access: 'authenticated',
    data: z.object({ lastChangeAt: z.iso.datetime() }),
  },
  async ({ engine, call }) => ({ data: { lastChangeAt: new Date(await engine.serviceUpdates.lastChangeAt(call)) } }),
)
