import type { FieldKind } from '../domain/filter/index.ts'
import { bodySchema, detailSchema, patchSchema, replaceSchema, symbolTable } from './derive.ts'
import { emptyOf, kindOf } from './field-kind.ts'
import type { Resource, ResourceDefinition, Shape } from './resource.ts'

const BASE_FIELDS: Readonly<Record<string, FieldKind>> = { createdAt: 'instant', updatedAt: 'instant', tags: 'json' }

/**
 * Declares a resource. Schemas of requests and of the wire form, filter symbols, storage fields, links, references, role
 * displays, deletion rules and the standard operations all derive from this one value.
 */
export function defineResource<const D extends ResourceDefinition>(definition: D): Resource<D> {
  const stored: Shape = { ...definition.writable, ...definition.createOnly, ...definition.system }
  const kinds = Object.entries(stored).map(([field, schema]) => [field, kindOf(schema)] as const)
  const fields = { ...BASE_FIELDS, ...Object.fromEntries(kinds) }
  const symbols = symbolTable(definition, fields)
  return {
    definition,
    name: definition.name,
    fields,
    unique: definition.unique ?? [],
    indexed: definition.indexed ?? [],
    searchedJson: [
      ...Object.values(symbols).flatMap(({ field, kind }) => (kind === 'json' ? [field] : [])),
      ...(definition.searchedInside ?? []),
    ],
    defaults: Object.fromEntries(Object.entries(stored).map(([field, schema]) => [field, emptyOf(schema)])),
    create: bodySchema(definition, { ...definition.writable, ...definition.createOnly, ...definition.createRequest }),
    replace: replaceSchema(definition),
    patch: patchSchema(definition),
    detail: detailSchema(definition, stored),
    symbols,
  }
}
