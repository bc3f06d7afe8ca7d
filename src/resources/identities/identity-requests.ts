import { z } from 'zod'
import { described } from '../declaration/words.ts'

/** POST /identities/{id}/disable. */
export const DisableRequest = described(z.object({ durationMinutes: z.int().max(2_147_483_647) }), {
  durationMinutes: 'For how many minutes; 0 and less until an admin enables the identity.',
})

/** PUT /identities/{id}/trace. */
export const TraceRequest = described(
  z.object({
    channels: z.array(z.string()).max(100).optional(),
    duration: z.string().max(100).optional(),
    enabled: z.boolean().optional(),
    traceId: z.string().max(256).optional(),
  }),
  {
    channels: 'What to trace: `selectPath`, `establishPath` or `all`; all by default.',
    duration: 'For how long, as `10m` or `1h30m`; needed to begin.',
    enabled: 'True to begin, false (the default) to end.',
    traceId: 'A name for the trace; a UUID by default.',
  },
)
