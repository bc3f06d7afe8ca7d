import type { z } from 'zod'
import type { Resource } from '../../resources/declaration/resource.ts'
import type { ShownOf } from '../../resources/wire/wire-forms.ts'

/** The schema of an entity's wire form, typed by the resource's declaration. */
export function wireSchema<R extends Resource>(resource: R): z.ZodType<unknown, ShownOf<R>> {
  // The detail schema is built from the same declaration that the type is computed from.
  return resource.detail as unknown as z.ZodType<unknown, ShownOf<R>>
}
