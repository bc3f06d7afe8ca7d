import { z } from 'zod'
import { type FoundNames, PartOfName } from '../../facts/insight/graph/graph.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { described } from '../../kernel/declaration/words.ts'

/** A count in a query; the engine knows its bounds. */
export const Count = z
  .string()
  .regex(/^\d{1,9}$/)
  .meta({ type: 'integer' })
  .transform(Number)
  .optional()

const NamesData: z.ZodType<FoundNames, FoundNames> = described(
  z.object({
    entities: z.array(
      described(z.object({ id: z.string(), name: z.string(), kind: z.string(), roleAttributes: z.array(z.string()) }), {
        kind: 'The collection that it is in, for example `service-policies`.',
        roleAttributes: 'Role attributes that it has, at most 8 of them.',
      }),
    ),
    roleAttributes: z.array(
      described(
        z.object({
          kind: z.enum(['identities', 'services', 'edge-routers', 'posture-checks']),
          roleAttribute: z.string(),
          count: z.int(),
        }),
        {
          kind: 'The kind of the entities that have it.',
          roleAttribute: 'The role attribute, without `#`.',
          count: 'How many have it.',
        },
      ),
    ),
    isPartial: z.boolean(),
  }),
  {
    entities: 'Entities that have the name.',
    roleAttributes: 'Role attributes that are called so.',
    isPartial:
      'Whether there are names that do not begin with the text and that were not looked at: there are too many.',
  },
)

/** Finds entities and role attributes by name. */
export const searchOperation = defineOperation(
  {
    route: 'GET /search',
    summary: 'Finds identities, services, edge routers, policies, posture checks, configs and role attributes by name',
    description:
      'In any case, names that begin with the text first; of the kinds that the caller may read. Of names that do not begin with ' +
      'the text `limits.namesSearched` of a kind are looked at, 250,000 by default.',
    access: 'delegate',
    isLong: true,
    query: described(z.object({ q: PartOfName, limit: Count }), {
      q: 'A part of the name; a text that begins with `#` finds role attributes alone.',
      limit: 'How many of each kind to answer at most, up to 200; 50 by default.',
    }),
    data: NamesData,
  },
  async ({ engine, call, query }) => ({ data: await engine.graphs.search(call, query) }),
)
