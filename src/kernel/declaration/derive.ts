import { z } from 'zod'
import type { FieldKind, FilterSymbol, SymbolTable } from '../filter/index.ts'
import { EntityRef, EntityRefWithUrlName, Links, NamedRole, required, Tags, withoutDefault } from './fields.ts'
import { inputName } from './quirks.ts'
import { always, type ComputedSymbol, type ResourceDefinition, type Shape } from './resource.ts'
import { describedLike } from './words.ts'

/** The body of create or replace: required members must be present, other members have defaults. */
export function bodySchema(
  definition: ResourceDefinition,
  shape: Shape,
  requiredFields: readonly string[] = definition.required,
): z.ZodObject {
  const entries = Object.entries(shape).map(([field, schema]) => [
    inputName(definition, field),
    requiredFields.includes(field) ? withoutDefault(schema) : schema,
  ])
  return z.object({ ...Object.fromEntries(entries), tags: Tags.default({}) })
}

/** Makes the schema of fields that are fixed at creation: deployed clients send them again, without effect. */
function settled(definition: ResourceDefinition, requiredFields: readonly string[] = []): Record<string, z.ZodType> {
  const fields = Object.entries(definition.createOnly ?? {}).map(([field, schema]) => [
    inputName(definition, field),
    requiredFields.includes(field) ? withoutDefault(schema) : withoutDefault(schema).optional(),
  ])
  return Object.fromEntries(fields)
}

/** The body of replace: the body of create without the members that only a create request has. */
export function replaceSchema(definition: ResourceDefinition): z.ZodObject {
  const body = bodySchema(definition, definition.writable, definition.quirks?.requiredOnReplace)
  return z.object({ ...settled(definition), ...body.shape })
}

/** The body of patch: members are optional, and nested objects may be sent in part. */
export function patchSchema(definition: ResourceDefinition): z.ZodObject {
  const entries = Object.entries(definition.writable).map(([field, schema]) => [
    inputName(definition, field),
    partial(schema).optional(),
  ])
  const sent = settled(definition, definition.quirks?.requiredOnPatch)
  return z.object({ ...sent, ...Object.fromEntries(entries), tags: Tags.optional() })
}

function partial(schema: z.ZodType): z.ZodType {
  const inner = required(schema)
  if (!(inner instanceof z.ZodObject)) return withoutDefault(schema)
  const members = Object.entries(inner.shape).map(([member, type]) => [member, partial(type).nullish()])
  return describedLike(z.object(Object.fromEntries(members)), inner)
}

/** The wire form: base fields, visible stored fields, entity references, role displays, derived members. */
export function detailSchema(definition: ResourceDefinition, stored: Shape): z.ZodObject {
  const hidden = new Set(definition.hidden)
  const shown = Object.entries(stored)
    .filter(([field]) => !hidden.has(field))
    .map(([field, schema]) => [field, withoutDefault(schema)])
  const { mayBeAbsent = [], urlNames = [] } = definition.quirks ?? {}
  const references = Object.entries(definition.references ?? {}).flatMap(([field, { show }]) =>
    show === undefined ? [] : [[show, (urlNames.includes(field) ? EntityRefWithUrlName : EntityRef).nullable()]],
  )
  const displays = Object.keys(definition.selects ?? {}).map((field) => [`${field}Display`, z.array(NamedRole)])
  const members = { ...Object.fromEntries([...shown, ...references, ...displays]), ...definition.derived }
  const absent = mayBeAbsent.map((name) => [name, required(members[name]).optional()])
  return z.object({
    _links: Links,
    createdAt: z.iso.datetime(),
    id: z.string(),
    tags: Tags,
    updatedAt: z.iso.datetime(),
    ...members,
    ...Object.fromEntries(absent),
  })
}

/** The symbols without a field. Every resource has `isSystem`, since deployed clients ask for it. */
export function computedSymbols({ computed, system }: ResourceDefinition): Readonly<Record<string, ComputedSymbol>> {
  return { ...(system?.isSystem === undefined && { isSystem: always('boolean', false) }), ...computed }
}

/**
 * The symbols that a filter may name: every shown field with an order or members, renamed symbols of the declaration, and computed symbols.
 */
export function symbolTable(definition: ResourceDefinition, fields: Readonly<Record<string, FieldKind>>): SymbolTable {
  const table = new Map<string, FilterSymbol>([['id', { field: 'id', kind: 'string' }]])
  const hidden = new Set(definition.hidden)
  for (const [field, kind] of Object.entries(fields)) {
    if (!hidden.has(field) && (kind !== 'json' || field === 'tags')) table.set(field, linking(definition, field, kind))
  }
  for (const [symbol, field] of Object.entries(definition.symbols ?? {})) {
    const kind = field === null ? undefined : field === 'id' ? 'string' : fields[field]
    if (field === null || kind === undefined) table.delete(symbol)
    else table.set(symbol, linking(definition, field, kind))
  }
  for (const [symbol, computed] of Object.entries(computedSymbols(definition))) {
    const links = computed.by === 'policy' && { linksTo: computed.selected }
    table.set(symbol, { field: symbol, kind: computed.kind, isComputed: true, ...links })
  }
  return Object.fromEntries(table)
}

function linking(definition: ResourceDefinition, field: string, kind: FieldKind): FilterSymbol {
  const linksTo = linkedBy(definition, field)
  return { field, kind, ...(linksTo !== undefined && { linksTo }) }
}

/** The resource of the ids in a field; undefined for a field without ids, and for a field of several resources. */
export function linkedBy({ references }: ResourceDefinition, field: string): string | undefined {
  const reference = references !== undefined && Object.hasOwn(references, field) ? references[field] : undefined
  return reference === undefined || reference.isLoose || reference.orTo !== undefined ? undefined : reference.to
}
