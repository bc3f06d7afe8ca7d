import type { Resource } from '../../resources/resource.ts'

/** A validated body in the words of the record: some requests spell a field differently (`type` for `typeId`). */
export function inStoredNames(resource: Resource, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const spelled = new Map(Object.entries(resource.definition.inputNames ?? {}).map(([field, name]) => [name, field]))
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [spelled.get(name) ?? name, value]))
}

/** A validated change in the words of the record, without what is settled at creation: sent again, it changes nothing. */
export function changesInStoredNames(
  resource: Resource,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const settled = Object.keys(resource.definition.createOnly ?? {})
  const changes = Object.entries(inStoredNames(resource, body)).filter(([field]) => !settled.includes(field))
  return Object.fromEntries(changes)
}
