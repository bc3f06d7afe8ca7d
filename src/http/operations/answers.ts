import { z } from 'zod'
import { Links } from '../../resources/fields.ts'
import type { Resource } from '../../resources/resource.ts'
import { described } from '../../resources/words.ts'
import type { Answer } from './operation.ts'

/** The `data` of a create answer. */
export const Created = described(z.object({ _links: Links, id: z.string() }), { id: 'The id of the entity.' })

/** Answers that an entity was created, with its id and where it is. */
export function created(resource: Resource, id: string): Answer {
  return { data: { _links: { self: { href: `./${resource.name}/${id}` } }, id } }
}

/** Answers an empty `data` object. */
export const DONE: Answer = {}
