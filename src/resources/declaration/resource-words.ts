import { inputName } from './derive.ts'
import type { ResourceDefinition } from './resource.ts'

type Words = Readonly<Record<string, string>>

/** What the members of a resource's requests mean, in the spelling of requests. */
export function requestWords(definition: ResourceDefinition, words: Words): Words {
  return Object.fromEntries(Object.entries(words).map(([field, text]) => [inputName(definition, field), text]))
}

/** What the members of a resource's wire form mean: its fields, and what follows from references and role lists. */
export function detailWords(definition: ResourceDefinition, words: Words): Words {
  const references = Object.entries(definition.references ?? {}).flatMap(([field, { show }]) =>
    show === undefined ? [] : [[show, `What \`${field}\` names, as a reference; null when it names nothing.`]],
  )
  const displays = Object.keys(definition.selects ?? {}).map((field) => [
    `${field}Display`,
    `The entries of \`${field}\`, each with the present name of what it names.`,
  ])
  return { ...Object.fromEntries([...references, ...displays]), ...words }
}
