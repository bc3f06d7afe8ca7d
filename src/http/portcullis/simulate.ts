import { z } from 'zod'
import type { SimulatedChange } from '../../engine/simulation/simulated-change.ts'
import { MAX_CHANGES, MAX_PAIRS } from '../../engine/simulation/simulation.ts'
import { Id } from '../../resources/fields.ts'
import { identities } from '../../resources/identities.ts'
import { servicePolicies } from '../../resources/policies.ts'
import type { Resource } from '../../resources/resource.ts'
import { services } from '../../resources/services.ts'
import { inStoredNames } from '../input-names.ts'
import { defineOperation } from '../operation.ts'

/** A change to one resource, in the words of its own requests. */
function changeTo<R extends Resource>(resource: R) {
  const kind = z.literal(resource.name)
  return z.discriminatedUnion('action', [
    z.object({ kind, action: z.literal('create'), id: Id.min(1).optional(), body: resource.create }),
    z.object({ kind, action: z.literal('update'), id: Id, body: resource.patch }),
    z.object({ kind, action: z.literal('delete'), id: Id }),
  ])
}

const Named = z.object({ id: z.string(), name: z.string() })
const Counts = z.object({ gained: z.int(), lost: z.int() })

const RESOURCES: readonly Resource[] = [identities, services, servicePolicies]

/** Tries changes out. It is a POST because the changes are a body; nothing is written. */
export const simulateOperation = defineOperation(
  {
    route: 'POST /simulate',
    summary: 'Tells which identities would gain or lose Dial or Bind to which services by changes, writing nothing',
    access: { entity: 'service-policy', action: 'read' },
    body: z.object({
      changes: z
        .array(z.discriminatedUnion('kind', [changeTo(identities), changeTo(services), changeTo(servicePolicies)]))
        .max(MAX_CHANGES),
      limit: z.int().min(1).max(MAX_PAIRS).optional(),
      cursor: z.string().max(4096).optional(),
    }),
    data: z.object({
      revision: z.int(),
      counts: z.object({ dial: Counts, bind: Counts }).nullable(),
      pairs: z.array(
        z.object({
          identity: Named,
          service: Named,
          type: z.enum(['Dial', 'Bind']),
          change: z.enum(['gained', 'lost']),
        }),
      ),
      nextCursor: z.string().nullable(),
    }),
    errors: ['NOT_FOUND'],
  },
  async ({ engine, body }) => {
    const { limit, cursor } = body
    return { data: await engine.simulate(body.changes.map(asSimulated), { limit, cursor }) }
  },
)

interface ValidChange {
  readonly kind: string
  readonly body?: Readonly<Record<string, unknown>>
}

/** Bodies were validated against the resources' own schemas, which is what the type of a change says. */
function asSimulated(change: ValidChange): SimulatedChange {
  const resource = RESOURCES.find(({ name }) => name === change.kind)
  if (resource === undefined || change.body === undefined) return change as SimulatedChange
  return { ...change, body: inStoredNames(resource, change.body) } as unknown as SimulatedChange
}
