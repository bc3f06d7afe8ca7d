import type { z } from 'zod'

/** Descriptions of fields whose name means the same wherever it occurs; a declaration may say it more exactly. */
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

/** Words for each of some fields; those with common words may go without. */
export type WordsFor<Field extends string> = { readonly [K in Exclude<Field, CommonField>]: string } & {
  readonly [K in Extract<Field, CommonField>]?: string
}

/** The description of an object, and those of its members. */
export interface Meaning {
  readonly itself: string | undefined
  readonly members: Readonly<Record<string, string>>
}

/** Words of derived schemas are put together when somebody asks for them: few programs write documents. */
const MEANINGS = new WeakMap<z.core.$ZodType, Meaning | (() => Meaning)>()

/**
 * The same schema, known to mean something: what its members say and, where it stands in a list or a union, what it is
 * itself. The words are kept beside the schema, for documents alone; validation does not carry them.
 */
export function described<S extends z.ZodObject>(
  schema: S,
  words: WordsFor<keyof S['shape'] & string>,
  itself?: string,
): S {
  MEANINGS.set(schema, { itself, members: words })
  return schema
}

/** The same schema, whose members mean what `words` says when it is asked. */
export function describedLater<S extends z.ZodObject>(schema: S, words: () => Meaning['members']): S {
  MEANINGS.set(schema, () => ({ itself: undefined, members: words() }))
  return schema
}

/** A schema with the words of another one whose members it has. */
export function describedLike<S extends z.ZodObject>(schema: S, like: z.ZodType): S {
  const meaning = MEANINGS.get(like)
  if (meaning !== undefined) MEANINGS.set(schema, meaning)
  return schema
}

/** Reads the description of a schema, with the common words for members that have no others; undefined when there is none. */
export function meaningOf(schema: z.core.$ZodType): Meaning | undefined {
  const found = MEANINGS.get(schema)
  const meaning = typeof found === 'function' ? found() : found
  return meaning && { ...meaning, members: { ...COMMON_WORDS, ...meaning.members } }
}
