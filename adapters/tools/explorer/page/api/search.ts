import type { Apis } from './apis.ts'

/** The options for a text, and whether some names were not looked at because there are too many. */
export interface Options<T> {
  readonly options: readonly T[]
  readonly isPartial: boolean
}

/** An entity that is found by a part of its name. */
export interface Found {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** As many of each kind are found. */
export const MOST_OF_A_KIND = 8

/** Entities of some kinds (all kinds unless given) whose name holds a text. Names that begin with it come first. */
export async function searchNames(
  { portcullis }: Apis,
  text: string,
  kinds: readonly string[],
  signal: AbortSignal,
): Promise<Options<Found>> {
  if (text.trim() === '') return { options: [], isPartial: false }
  const query = { q: text.trim(), limit: String(MOST_OF_A_KIND) }
  const { data } = await portcullis.call('GET /search', { query, signal })
  const { entities, isPartial } = data
  return { options: kinds.length === 0 ? entities : entities.filter(({ kind }) => kinds.includes(kind)), isPartial }
}
