import type { Resource } from '../../resources/declaration/resource.ts'
import { RESOURCES } from '../../resources/index.ts'

/** Says what a deletion does to entities that refer to the deleted one, as their declarations have it. */
export function deletionText({ name }: Resource): string {
  const isOperated = ({ definition }: Resource) => definition.operations.length > 0
  const cascade = referring(name, 'cascade').filter(isOperated).map(inWords)
  const clear = referring(name, 'clear').map(inWords)
  const restrict = referring(name, 'restrict').map(inWords)
  return [
    'It is gone for good, from role lists that name it too.',
    ...(cascade.length === 0 ? [] : [`With it go its ${listed(cascade)}, and all else that belongs to it.`]),
    ...(clear.length === 0 ? [] : [`It is taken out of ${listed(clear)}.`]),
    ...(restrict.length === 0 ? [] : [`Answers 409 while ${listed(restrict)} refer to it.`]),
  ].join(' ')
}

/** The resources that refer to one of a name, and that its deletion concerns in a way. */
function referring(name: string, onDelete: 'restrict' | 'cascade' | 'clear'): readonly Resource[] {
  return RESOURCES.filter(({ definition }) =>
    Object.values(definition.references ?? {}).some(
      (reference) => reference.onDelete === onDelete && (reference.to === name || reference.orTo === name),
    ),
  )
}

function inWords({ name }: Resource): string {
  return name.replaceAll('-', ' ')
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
