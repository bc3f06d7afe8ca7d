import type { z } from 'zod'

/** Descriptions of fields whose name has the same meaning everywhere; a declaration may be more specific. */
const COMMON_WORDS = {
  _links: 'Where the entity and what belongs to it are found: relation name to address below the base path of the API.',
  createdAt: 'When the entity was created, RFC 3339 in UTC. Set by the controller.',
  updatedAt: 'When the entity was last changed, RFC 3339 in UTC. Set by the controller.',
  id: 'The id of the entity: opaque text that never changes.',
  name: 'The name of the entity, unique among its kind; at most 1024 characters.',
  tags: 'Keys and values of the user; the controller keeps them and does not interpret them. Empty by default.',
  roleAttributes:
    'Attributes by which policies select the entity, as `#attribute` in their roles. A set, sorted; empty by default.',
}
type CommonField = keyof typeof COMMON_WORDS

/** A description for each field; optional for fields with a common description. */
export type WordsFor<Field extends string> = { readonly [K in Exclude<Field, CommonField>]: string } & {
  readonly [K in Extract<Field, CommonField>]?: string
}

/** The descriptions of an object and of its members. */
export interface Meaning {
  readonly itself: string | undefined
  readonly members: Readonly<Record<string, string>>
}

/** Descriptions of derived schemas are composed on demand, since few programs write documents. */
const MEANINGS = new WeakMap<z.core.$ZodType, Meaning | (() => Meaning)>()

/**
 * Describes the members of a schema and, in a list or a union, the schema itself. The descriptions are kept beside the schema and serve
 * documents only, so that validation does not carry them.
 */
export function described<S extends z.ZodObject>(
  schema: S,
  words: WordsFor<keyof S['shape'] & string>,
  itself?: string,
): S {
  MEANINGS.set(schema, { itself, members: words })
  return schema
}

/** Describes the members of a schema by `words`, which is called on demand. */
export function describedLater<S extends z.ZodObject>(schema: S, words: () => Meaning['members']): S {
  MEANINGS.set(schema, () => ({ itself: undefined, members: words() }))
  return schema
}

/** Copies the descriptions of another schema with the same members. */
export function describedLike<S extends z.ZodObject>(schema: S, like: z.ZodType): S {
  const meaning = MEANINGS.get(like)
  if (meaning !== undefined) MEANINGS.set(schema, meaning)
  return schema
}

/** The description of a schema, with common descriptions for members without their own; undefined for an undescribed schema. */
export function meaningOf(schema: z.core.$ZodType): Meaning | undefined {
  const found = MEANINGS.get(schema)
  const meaning = typeof found === 'function' ? found() : found
  return meaning && { ...meaning, members: { ...COMMON_WORDS, ...meaning.members } }
}
