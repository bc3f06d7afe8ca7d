import { z } from 'zod'
import { PageCursor } from '../../facts/insight/graph/graph.resource.ts'
import { type Traffic, TrafficRequest } from '../../facts/insight/traffic.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'
import { circuitOperations } from '../fabric/circuits.rows.ts'
import { Count } from './search.rows.ts'

const Named = described(z.object({ id: z.string(), name: z.string().nullable() }), {
  name: 'The name of the entity; null where nobody has the id any more.',
})
const CIRCUITS = 'How many open circuits pass it.'

const RATE = 'How many bytes a second, as of the last report of a router; 0 where none reports bytes.'
const HISTORY =
  'The bytes of each minute of the last half hour, the earliest first, also of circuits that ended meanwhile.'

const TrafficData: z.ZodType<Traffic, Traffic> = described(
  z.object({
    isOpen: z.boolean(),
    counts: described(
      z.object({
        ...{ routers: z.int(), routersOnline: z.int(), links: z.int(), circuits: z.int() },
        ...{ bytesPerSecond: z.number(), history: z.array(z.number()) },
      }),
      {
        routers: 'How many routers there are.',
        routersOnline: 'How many of them are connected to a controller of the network.',
        links: 'How many links there are.',
        circuits: 'How many open circuits are meant.',
        bytesPerSecond: RATE,
        history: HISTORY,
      },
    ),
    routers: z.array(
      described(
        z.object({
          id: z.string(),
          name: z.string(),
          kind: z.enum(['edge-routers', 'transit-routers']),
          isOnline: z.boolean(),
          isEnrolled: z.boolean(),
          circuits: z.int(),
          bytesPerSecond: z.number(),
        }),
        {
          kind: 'The kind of the router.',
          isOnline: 'Whether it is connected.',
          isEnrolled: 'False until its first enrollment.',
          circuits: CIRCUITS,
          bytesPerSecond: RATE,
        },
      ),
    ),
    links: z.array(
      described(
        z.object({
          id: z.string(),
          source: Named,
          target: Named,
          latencyMs: z.number().nullable(),
          isDown: z.boolean(),
          circuits: z.int(),
          bytesPerSecond: z.number(),
        }),
        {
          source: 'The router that dialed.',
          target: 'The router that was dialed.',
          latencyMs: 'The latency in milliseconds; null while neither end has measured it.',
          isDown: 'Whether an operator took it out of use.',
          circuits: CIRCUITS,
          bytesPerSecond: RATE,
        },
      ),
    ),
    flows: z.array(
      described(
        z.object({
          ...{ identity: Named, service: Named, routers: z.array(Named) },
          circuits: z.int(),
          bytesPerSecond: z.number(),
        }),
        {
          identity: 'The identity that dialed.',
          service: 'The service that it talks to.',
          routers: 'The routers where these circuits enter and leave the network.',
          circuits: 'How many circuits are alike.',
          bytesPerSecond: RATE,
        },
      ),
    ),
    circuits: z.array(
      described(
        z.object({
          id: z.string(),
          identity: Named,
          service: Named,
          host: Named.nullable(),
          path: z.array(Named),
          openedAt: z.iso.datetime(),
          bytes: z.number(),
          bytesPerSecond: z.number(),
          history: z.array(z.number()),
          latencyMs: z.number().nullable(),
        }),
        {
          identity: 'The identity that dialed.',
          service: 'The service that it leads to.',
          host: 'The identity that serves it; null where a router does for itself.',
          path: 'The routers that it passes, in order.',
          openedAt: 'When it was dialed, RFC 3339.',
          bytes:
            'The bytes from its client and to it since then, as the first router of its path reported them to this process.',
          bytesPerSecond: RATE,
          history: HISTORY,
          latencyMs: 'The sum of the latencies of its links in milliseconds; null where one is not measured.',
        },
      ),
    ),
    nextCursor: z.string().nullable(),
  }),
  {
    isOpen: 'Whether the process that answers serves routers.',
    counts: 'How many there are in all.',
    routers: 'The routers: offline routers first, then the most used; 200 at most.',
    links: 'The links of this process, the most used first: 500 at most.',
    flows: 'Pairs of dialer and host, the largest first: 100 at most.',
    circuits: 'A page of the open circuits, the newest first.',
    nextCursor: 'Where the next page of circuits begins; null on the last.',
  },
)

/** Routers, links and circuits as they are now, and ending a circuit. */
export const trafficOperations = {
  show: defineOperation(
    {
      route: 'GET /traffic',
      summary: 'Shows routers, links and circuits as they are now, and who talks to whom',
      description:
        'Links are those of the process that answers, circuits those of every process over its store. ' +
        'Takes the right to read circuits, routers, identities and services.',
      access: { entity: 'ops', action: 'read' },
      reads: ['ops', 'router', 'identity', 'service'],
      isLong: true,
      query: described(
        TrafficRequest.pick({ identity: true, service: true, router: true }).extend({
          limit: Count,
          cursor: PageCursor.optional(),
        }),
        {
          identity: 'Only circuits that this identity dialed or hosts, by id.',
          service: 'Only circuits to this service, by id.',
          router: 'Only circuits that pass this router, and its links, by id.',
          limit: 'How many circuits to answer at most, up to 200; 50 by default.',
          cursor: 'The `nextCursor` of the page before; absent for the first page.',
        },
      ),
      data: TrafficData,
    },
    async ({ engine, call, query }) => ({ data: await engine.traffic.read(call, query) }),
  ),
  endCircuit: circuitOperations.delete,
} as const
