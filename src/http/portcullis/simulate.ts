import { z } from 'zod'
import type { SimulatedChange } from '../../engine/access/simulation/simulated-change.ts'
import { MAX_CHANGES, MAX_PAIRS } from '../../engine/access/simulation/simulation.ts'
import { servicePolicies } from '../../resources/access/policies.ts'
import { Id } from '../../resources/declaration/fields.ts'
import type { Resource } from '../../resources/declaration/resource.ts'
import { described } from '../../resources/declaration/words.ts'
import { identities } from '../../resources/identities/identities.ts'
import { services } from '../../resources/services/services.ts'
import { defineOperation } from '../operations/define-operation.ts'

/** A change to one resource, in the words of its own requests. */
function changeTo<R extends Resource>(resource: R) {
  const kind = z.literal(resource.name)
  const plural = resource.name.replaceAll('-', ' ')
  const words = { kind: 'The kind of the entity.', action: 'What is done to it.' }
  return z.discriminatedUnion('action', [
    described(
      z.object({ kind, action: z.literal('create'), id: Id.min(1).optional(), body: resource.create }),
      {
        ...words,
        id: 'An id by which later changes may name the entity; any by default.',
        body: `The body of POST /${resource.name}.`,
      },
      `Creating one of the ${plural}.`,
    ),
    described(
      z.object({ kind, action: z.literal('update'), id: Id, body: resource.patch }),
      { ...words, body: `The body of PATCH /${resource.name}/{id}.` },
      `Changing one of the ${plural}.`,
    ),
    described(z.object({ kind, action: z.literal('delete'), id: Id }), words, `Deleting one of the ${plural}.`),
  ])
}

const Named = described(z.object({ id: z.string(), name: z.string() }), { name: 'The name of the entity.' })
const Counts = described(z.object({ gained: z.int(), lost: z.int() }), {
  gained: 'Pairs that would gain it.',
  lost: 'Pairs that would lose it.',
})

/** Tries changes out. It is a POST because the changes are a body; nothing is written. */
export const simulateOperation = defineOperation(
  {
    route: 'POST /simulate',
    summary: 'Tells which identities would gain or lose Dial or Bind to which services by changes, writing nothing',
    description:
      'Changes are made in order on a view of the network as it is; posture counts for nothing. Pairs come in pages.',
    access: { entity: 'service-policy', action: 'read' },
    body: described(
      z.object({
        changes: z
          .array(z.discriminatedUnion('kind', [changeTo(identities), changeTo(services), changeTo(servicePolicies)]))
          .max(MAX_CHANGES),
        limit: z.int().min(1).max(MAX_PAIRS).optional(),
        cursor: z.string().max(4096).optional(),
      }),
      {
        changes: 'The changes, made in this order; at most 500.',
        limit: 'How many pairs to answer at most, up to 500; 100 by default.',
        cursor: 'The `nextCursor` of the page before; absent for the first page.',
      },
    ),
    data: described(
      z.object({
        revision: z.int(),
        counts: described(z.object({ dial: Counts, bind: Counts }), {
          dial: 'Pairs that may dial.',
          bind: 'Pairs that may bind.',
        }).nullable(),
        pairs: z.array(
          described(
            z.object({
              identity: Named,
              service: Named,
              type: z.enum(['Dial', 'Bind']),
              change: z.enum(['gained', 'lost']),
            }),
            {
              identity: 'The identity.',
              service: 'The service.',
              type: 'Which access it is.',
              change: 'Whether it would be gained or lost.',
            },
          ),
        ),
        nextCursor: z.string().nullable(),
      }),
      {
        revision: 'The revision of the store that the changes were tried on.',
        counts: 'How many pairs of identity and service would change, on all pages; null on every page but the first.',
        pairs: 'The pairs of the page, by service, type, change and identity.',
        nextCursor: 'Where the next page begins; null on the last page.',
      },
    ),
    errors: ['NOT_FOUND'],
  },
  async ({ engine, body }) => {
    const { limit, cursor } = body
    return { data: await engine.simulate(asSimulated(body.changes), { limit, cursor }) }
  },
)

/** The changes were validated by the resources' own schemas, which is what their type says. */
function asSimulated(changes: readonly object[]): readonly SimulatedChange[] {
  return changes as readonly SimulatedChange[]
}
