import type { FieldKind } from '../../domain/filter/index.ts'
import { bodySchema, computedSymbols, detailSchema, patchSchema, replaceSchema, symbolTable } from './derive.ts'
import { emptyOf, jsonTypeOf, kindOf, mayBeNull } from './field-kind.ts'
import type { Resource, ResourceDefinition, Shape, WordedField } from './resource.ts'
import { detailWords, requestWords } from './resource-words.ts'
import { describedLater, type WordsFor } from './words.ts'

const BASE_FIELDS: Readonly<Record<string, FieldKind>> = { createdAt: 'instant', updatedAt: 'instant', tags: 'json' }

/**
 * Declares a resource. Schemas of requests and of the wire form, filter symbols, storage fields, links, references, role
 * displays, deletion rules and the standard operations all derive from this one value. The words say of every field what
 * is true of it: its unit and shape, its default, who sets it, what null means.
 */
export function defineResource<const D extends ResourceDefinition>(
  definition: D,
  words: NoInfer<WordsFor<WordedField<D>>>,
): Resource<D> {
  const stored: Shape = { ...definition.writable, ...definition.createOnly, ...definition.system }
  const kinds = Object.entries(stored).map(([field, schema]) => [field, kindOf(schema)] as const)
  const fields = { ...BASE_FIELDS, ...Object.fromEntries(kinds) }
  const symbols = symbolTable(definition, fields)
  const searched = Object.values(symbols).flatMap(({ field, kind, isComputed }) =>
    kind === 'json' && !isComputed ? [field] : [],
  )
  const unsearched = definition.isWrittenByEndpoints ? searched : []
  const creatable = { ...definition.writable, ...definition.createOnly, ...definition.createRequest }
  const asked = () => requestWords(definition, words)
  return {
    definition,
    name: definition.name,
    fields,
    unique: definition.unique ?? [],
    indexed: definition.indexed ?? [],
    searchedJson: [...searched.filter((field) => !unsearched.includes(field)), ...(definition.searchedInside ?? [])],
    unsearchedJson: unsearched,
    jsonTypes: {
      tags: 'object',
      ...Object.fromEntries(
        Object.entries(stored).flatMap(([field, schema]) => {
          const type = jsonTypeOf(schema)
          return type === undefined ? [] : [[field, type] as const]
        }),
      ),
    },
    required: [
      ...Object.keys(BASE_FIELDS),
      ...Object.entries(stored).flatMap(([field, schema]) => (mayBeNull(schema) ? [] : field)),
    ],
    defaults: Object.fromEntries(Object.entries(stored).map(([field, schema]) => [field, emptyOf(schema)])),
    create: describedLater(bodySchema(definition, creatable), asked),
    replace: describedLater(replaceSchema(definition), asked),
    patch: describedLater(patchSchema(definition), asked),
    detail: describedLater(detailSchema(definition, stored), () => detailWords(definition, words)),
    symbols,
    computed: computedSymbols(definition),
  }
}
