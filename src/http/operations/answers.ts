import { z } from 'zod'
import { Links } from '../../resources/declaration/fields.ts'
import type { Resource } from '../../resources/declaration/resource.ts'
import { described } from '../../resources/declaration/words.ts'

/** Which entity was created, and where it is found. */
export interface CreatedData {
  readonly _links: z.output<typeof Links>
  readonly id: string
}

/** The `data` of a create answer. */
export const Created: z.ZodType<CreatedData, CreatedData> = described(z.object({ _links: Links, id: z.string() }), {
  id: 'The id of the entity.',
})

/** Answers that an entity was created, with its id and where it is. */
export function created(resource: Resource, id: string): { readonly data: CreatedData } {
  return { data: { _links: { self: { href: `./${resource.name}/${id}` } }, id } }
}

/** Answers an empty `data` object. */
export const DONE = {} as const
