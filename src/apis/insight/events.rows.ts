import { z } from 'zod'
import type { Timeline } from '../../facts/insight/timeline.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { EVENT_STREAM, streamAnswer, streamAskedFor } from '../../http/operations/stream-answer.ts'
import type { EventBatch } from '../../insight/timeline/event-stream.ts'
import type { LastStep, QuietStep } from '../../insight/timeline/reader-stream.ts'
import { described } from '../../kernel/declaration/words.ts'
import { Count } from './search.rows.ts'

const Entity = described(z.object({ id: z.string(), name: z.string().nullable() }), {
  name: 'Its name; null where the caller may not read it, or it is gone.',
})

/** The data of GET /events. */
const TimelineData: z.ZodType<Timeline, Timeline> = described(
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
          entity: Entity.optional(),
          author: Entity.optional(),
          facts: z.record(z.string(), z.unknown()),
          text: z.string(),
        }),
        {
          id: 'By which what came later is asked for.',
          type: 'The kind of event, for example `session.created`.',
          at: 'When, RFC 3339.',
          identity: 'The identity that it is about; absent where it is about none.',
          service: 'The service that it is about; absent where it is about none.',
          router: 'The router that it is about; absent where it is about none.',
          entity: 'The entity that was created, changed or deleted, of the kind in `facts`; absent for other events.',
          author: 'The identity that did it; absent where nobody did, or where it is the identity.',
          facts: 'Further facts about it: `access` is Dial or Bind, `reason` a code.',
          text: 'The event as a sentence.',
        },
      ),
    ),
    next: z.string(),
    isCut: z.boolean(),
  }),
  {
    events: 'The events, oldest first.',
    next: 'By which later events are asked for.',
    isCut: 'Whether events before these are not told any more.',
  },
)

/** The operation that answers past events, or streams new ones: the form decides. */
export const eventsOperation = defineOperation(
  {
    route: 'GET /events',
    summary: 'Tells what happened in the network, or tells it as it happens',
    description:
      'A caller that accepts `text/event-stream` is told each event as it happens, from now on or after `Last-Event-ID`; ' +
      'everybody else gets the remembered events, oldest first. A reader gets events about kinds of entities that the reader may read. ' +
      'Of several processes over one storage, each answers its own events.',
    access: 'delegate',
    query: described(z.object({ after: z.string().max(128).optional(), limit: Count }), {
      after: 'The `id` of an event, or a `next`: later events are answered.',
      limit: 'How many events to answer at most, up to 1000; 200 by default. Of a stream it says nothing.',
    }),
    headers: ['Last-Event-ID'],
    data: TimelineData,
    orProduces: [EVENT_STREAM],
    errors: ['RATE_LIMITED'],
  },
  async ({ engine, call, query, headers }): Promise<{ readonly data: Timeline }> => {
    if (streamAskedFor(headers.get('accept'), [EVENT_STREAM]) === undefined) {
      return { data: await engine.timelines.read(call, query) }
    }
    const after = headers.get('last-event-id')?.slice(0, 128) || query.after
    const stream = engine.timelines.open(call, after)
    return streamAnswer<Timeline>(EVENT_STREAM, {
      next: async () => textOf(await stream.next()),
      close: () => engine.timelines.close(stream),
    })
  },
)

function textOf(step: EventBatch | QuietStep | LastStep): string | undefined {
  if (step.kind === 'over') return undefined
  return step.kind === 'quiet' ? ': alive\n\n' : eventsText(step)
}

function eventsText({ events, isCut }: EventBatch): string {
  const texts = events.map((event) => `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return `${isCut ? 'event: cut\ndata: {}\n\n' : ''}${texts.join('')}`
}
