import { z } from 'zod'
import { Id, Name } from '../../kernel/declaration/fields.ts'
import type { Resource } from '../../kernel/declaration/resource.ts'
import { described } from '../../kernel/declaration/words.ts'
import { identities } from '../identities/identity.resource.ts'
import { services } from '../services/service.resource.ts'
import { REASONS } from './decision.rules.ts'
import { servicePolicies } from './policy.resource.ts'
import { PostureResponse } from './posture/posture-check.resource.ts'

/** The most changes in one simulation. */
const MAX_CHANGES = 500

/** The most pairs on one page of a simulation. */
const MAX_PAIRS = 500

/** An identity or a service, by id or name. */
export const IdOrName = Name

/** The names of the two access types: connecting to a service, and hosting it. */
export const AccessTypeName = z.enum(['Dial', 'Bind'])

/** Posture responses that a simulation assumes an endpoint to have reported. */
export const AssumedPosture = z.array(PostureResponse).max(1000)

/** The creation of an entity, by kind. */
export interface CreateChange {
  kind: string
  action: 'create'
  id?: string | undefined
  body: Record<string, unknown>
}

export interface UpdateChange {
  kind: string
  action: 'update'
  id: string
  body: Record<string, unknown>
}

export interface DeleteChange {
  kind: string
  action: 'delete'
  id: string
}

/** A change in a request: its schema is stricter than its type. */
export type ChangeRequest = CreateChange | UpdateChange | DeleteChange

/** Changes to identities, services and service policies, as the bodies of the requests that would make them. */
export const SimulatedChanges: z.ZodType<ChangeRequest[], ChangeRequest[]> = z
  .array(z.discriminatedUnion('kind', [changeTo(identities), changeTo(services), changeTo(servicePolicies)]))
  .max(MAX_CHANGES)

/** The identities whose access a simulation judges, each by id or name. */
export const SimulatedIdentities = z.array(IdOrName).min(1).max(100)

/** The most pairs that a request asks for on one page. */
export const PairLimit = z.int().min(1).max(MAX_PAIRS)

/** The start of a page of a simulation: the `nextCursor` of the previous page. */
export const PairCursor = z.string().max(4096)

/** The schema of a change to one resource, by the bodies of its own requests. */
function changeTo<R extends Resource>(resource: R) {
  const kind = z.literal(resource.name)
  const plural = resource.name.replaceAll('-', ' ')
  const words = { kind: 'The kind of the entity.', action: 'The action on it.' }
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

/** An identity and a service whose access a change would grant or withdraw. */
export const ChangedPair = described(
  z.object({
    identity: Named,
    service: Named,
    type: z.enum(['Dial', 'Bind']),
    change: z.enum(['gained', 'lost']),
    obstacle: z.enum(REASONS).nullable().optional(),
  }),
  {
    identity: 'The identity.',
    service: 'The service.',
    type: 'Which access it is.',
    change: 'Whether it would be gained or lost.',
    obstacle:
      'The reason why a gained pair would not connect, as the reason of POST /explain; null without an obstacle, and of a lost pair. ' +
      'Absent unless it was asked for.',
  },
)
