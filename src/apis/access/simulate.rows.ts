import { z } from 'zod'
import type { SimulatedChange } from '../../access/simulation/resolve-changes.ts'
import { requireReading } from '../../context/call.ts'
import {
  AssumedPosture,
  ChangedPair,
  PairCursor,
  PairLimit,
  SimulatedChanges,
  SimulatedIdentities,
} from '../../facts/access/access-questions.resource.ts'
import type { SimulationAnswer } from '../../facts/access/explain/explanation.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { Instant } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'

const Counts = described(z.object({ gained: z.int(), lost: z.int() }), {
  gained: 'Pairs that would gain it.',
  lost: 'Pairs that would lose it.',
})

const SimulationData: z.ZodType<SimulationAnswer, SimulationAnswer> = described(
  z.object({
    revision: z.int(),
    counts: described(z.object({ dial: Counts, bind: Counts }), {
      dial: 'Pairs that may dial.',
      bind: 'Pairs that may bind.',
    }).nullable(),
    pairs: z.array(ChangedPair),
    nextCursor: z.string().nullable(),
  }),
  {
    revision: 'The revision of the store that the changes were tried on.',
    counts: 'How many pairs of identity and service would change, on all pages; null on every page but the first.',
    pairs: 'The pairs of the page, by service, type, change and identity.',
    nextCursor: 'Where the next page begins; null on the last page.',
  },
)

/** Tries changes out. It is a POST because the changes are a body; nothing is written. */
export const simulateOperation = defineOperation(
  {
    route: 'POST /simulate',
    summary: 'Lists the identities that would gain or lose Dial or Bind to services by changes, and writes nothing',
    description:
      'Changes are made in order on a view of the network as it is; posture counts for nothing. Pairs come in pages. ' +
      'With `identities`, `posture`, `mfa` or `at` posture counts: what passes now is held against what would pass then, ' +
      'of a hundred identities to a page. Counts are then of the first page. Takes the right to read service policies, ' +
      'identities and services.',
    access: { entity: 'service-policy', action: 'read' },
    reads: ['service-policy', 'identity', 'service'],
    isLong: true,
    body: described(
      z.object({
        changes: SimulatedChanges,
        limit: PairLimit.optional(),
        cursor: PairCursor.optional(),
        obstacles: z.boolean().optional(),
        identities: SimulatedIdentities.optional(),
        posture: AssumedPosture.optional(),
        mfa: z.boolean().optional(),
        at: Instant.optional(),
      }),
      {
        changes: 'The changes, made in this order; at most 500.',
        limit: 'How many pairs to answer at most, up to 500; 100 by default.',
        cursor: 'The `nextCursor` of the page before; absent for the first page.',
        obstacles:
          'True to say of each gained pair why it would not connect, by posture, edge routers and terminators of now. ' +
          'It takes the right to read posture checks and edge routers, and is for questions without circumstances.',
        identities: 'Whose access is judged by posture, by id or name, at most 100; everybody is when absent.',
        posture: 'Posture responses that are taken as if every endpoint had reported them; nothing is kept.',
        mfa: 'True to judge as if every second factor was proved then; nothing is kept.',
        at: 'The instant to judge at, RFC 3339; now by default.',
      },
    ),
    data: SimulationData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, request, body }) => {
    const { changes, limit, cursor } = request
    const { obstacles } = body
    if (obstacles === true) requireReading(call, ['posture-check', 'router'])
    const { identities, mfa, at } = body
    const isJudged = [identities, body.posture, mfa, at].some((one) => one !== undefined)
    const circumstances = isJudged ? { identities, posture: body.posture, mfa, at } : undefined
    return { data: await engine.simulate(asSimulated(changes), { limit, cursor, obstacles }, circumstances) }
  },
)

/** The schema takes the requests of the resources themselves, as their type says. */
function asSimulated(changes: readonly object[]): readonly SimulatedChange[] {
  return changes as readonly SimulatedChange[]
}
