import type { FieldKind } from '../filter/index.ts'
import { bodySchema, computedSymbols, detailSchema, patchSchema, replaceSchema, symbolTable } from './derive.ts'
import { emptyOf, jsonTypeOf, kindOf, mayBeNull } from './fields.ts'
import { inputName } from './quirks.ts'
import type { Resource, ResourceDefinition, Shape, WordedField } from './resource.ts'
import { describedLater, type WordsFor } from './words.ts'

const BASE_FIELDS: Readonly<Record<string, FieldKind>> = { createdAt: 'instant', updatedAt: 'instant', tags: 'json' }

/**
 * Declares a resource. Schemas of requests and of the wire form, filter symbols, storage fields, links, references, role displays, deletion
 * rules and the standard operations all derive from this one value. The words describe every field: its unit and shape, its default, its
 * writer, the meaning of null.
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
    ...(definition.isJournal && { isJournal: true }),
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

type Words = Readonly<Record<string, string>>

/** Describes the members of a resource's requests, in the spelling of requests. */
function requestWords(definition: ResourceDefinition, words: Words): Words {
  return Object.fromEntries(Object.entries(words).map(([field, text]) => [inputName(definition, field), text]))
}

/** Describes the members of a resource's wire form: its fields, and the members that follow from references and role lists. */
function detailWords(definition: ResourceDefinition, words: Words): Words {
  const references = Object.entries(definition.references ?? {}).flatMap(([field, { show }]) =>
    show === undefined ? [] : [[show, `What \`${field}\` names, as a reference; null when it names nothing.`]],
  )
  const displays = Object.keys(definition.selects ?? {}).map((field) => [
    `${field}Display`,
    `The entries of \`${field}\`, each with the present name of what it names.`,
  ])
  return { ...Object.fromEntries([...references, ...displays]), ...words }
}
