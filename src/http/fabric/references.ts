import type { EntityRef } from '../../resources/declaration/fields.ts'

/** How the fabric API refers to an entity: below its own base. */
export function referenceTo(entity: string, id: string, name = id): EntityRef {
  return { _links: { self: { href: `./${entity}/${id}` } }, entity, id, name }
}
