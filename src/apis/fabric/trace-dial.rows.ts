import { z } from 'zod'
import { instant, SECOND_MS } from '../../base/time.ts'
import { MOST_WAIT_MS } from '../../fabric/circuits/trace-dial.ts'
import { IdOrName } from '../../facts/access/access-questions.resource.ts'
import { DIAL_STATIONS } from '../../facts/fabric/rules/index.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

const USUAL_SECONDS = 30
const Named = described(z.object({ id: z.string(), name: z.string() }), { id: 'Its id.', name: 'Its name.' })

/** Follows a dial. It is a POST because it waits for the dial of a client; nothing is written. */
export const traceDialOperation = defineOperation(
  {
    route: 'POST /trace-dial',
    summary: 'Follows the next dial of an identity to a service, hop by hop, and tells where it stopped',
    description:
      'Answers once the dial is over, or none began in time; at once where no client could ask a router now. Dials that ' +
      'other processes over the store lay count. One identity may wait for 8 dials: a further wait ends the oldest. Takes ' +
      'the right to read operations (`ops`) beside what `explain` takes.',
    access: { entity: 'identity', action: 'read' },
    reads: ['identity', 'service', 'service-policy', 'posture-check', 'router', 'ops'],
    body: described(
      z.object({
        identity: IdOrName,
        service: IdOrName,
        withinSeconds: z
          .int()
          .min(1)
          .max(MOST_WAIT_MS / SECOND_MS)
          .default(USUAL_SECONDS),
      }),
      {
        identity: 'The identity that dials, by id or name.',
        service: 'The service, by id or name.',
        withinSeconds: 'How long to wait for the dial to begin, 1 to 120 s; 30 by default.',
      },
    ),
    data: described(
      z.object({
        outcome: z.enum(['connected', 'stopped', 'no-dial', 'cannot-dial']),
        stoppedAt: z.enum(DIAL_STATIONS).nullable(),
        identity: Named,
        service: Named,
        circuitId: z.string().nullable(),
        at: z.iso.datetime().nullable(),
        tookMs: z.number().nullable(),
        steps: z.array(
          described(
            z.object({
              afterMs: z.number().nullable(),
              routerId: z.string().nullable(),
              linkId: z.string().nullable(),
              text: z.string(),
            }),
            {
              afterMs: 'Milliseconds after the request; null for a router that did not answer.',
              routerId: 'The router that it happened at; null for the controller.',
              linkId: 'The link over which the router is reached from the one before; null for none.',
              text: 'The step in words.',
            },
          ),
        ),
        text: z.string(),
      }),
      {
        outcome: 'Whether the dial got through or stopped, none came in time, or nobody could have asked.',
        stoppedAt: 'Where it stopped; null where it did not, and where none came.',
        identity: 'The identity that dials.',
        service: 'The service that is dialed.',
        circuitId: 'The id of the circuit; null where no dial came.',
        at: 'When the router asked for it, RFC 3339; null where none came.',
        tookMs: 'Milliseconds until the router was answered; null where none came.',
        steps: 'The steps of the dial, in the order of the way.',
        text: 'All of it for people, over several lines.',
      },
    ),
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, body }) => {
    const { withinSeconds, ...question } = body
    const traced = await engine.traceDial(call, { ...question, withinMs: withinSeconds * SECOND_MS })
    return { data: { ...traced, at: traced.at === null ? null : instant(traced.at), steps: [...traced.steps] } }
  },
)
