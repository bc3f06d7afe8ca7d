import { z } from 'zod'
import type { Timeline } from '../../resources/access/timeline-answer.ts'
import { described } from '../../resources/declaration/words.ts'

const Entity = described(z.object({ id: z.string(), name: z.string().nullable() }), {
  name: 'Its name; null where the caller may not read it, or it is gone.',
})

/** What GET /events answers. */
export const TimelineData: z.ZodType<Timeline, Timeline> = described(
  z.object({
    events: z.array(
      described(
        z.object({
          id: z.string(),
          type: z.string(),
          at: z.iso.datetime(),
          identity: Entity.optional(),
          service: Entity.optional(),
          router: Entity.optional(),
          author: Entity.optional(),
          facts: z.record(z.string(), z.unknown()),
          text: z.string(),
        }),
        {
          id: 'By which what came later is asked for.',
          type: 'What happened, for example `session.created`.',
          at: 'When, RFC 3339.',
          identity: 'The identity that it is about; absent where it is about none.',
          service: 'The service that it is about; absent where it is about none.',
          router: 'The router that it is about; absent where it is about none.',
          author: 'The identity that did it; absent where nobody did, or where it is the identity.',
          facts: 'What else is known of it: `access` is Dial or Bind, `reason` a code.',
          text: 'The event as a sentence.',
        },
      ),
    ),
    next: z.string(),
    isCut: z.boolean(),
  }),
  {
    events: 'What happened, oldest first.',
    next: 'By which later events are asked for.',
    isCut: 'Whether events before these are not told any more.',
  },
)
