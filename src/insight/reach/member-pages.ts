import { invalidField } from '../../base/errors.ts'
import { foldName, isBefore, type NameEntry, type NameOrder, type NamePlace } from '../../base/name-order.ts'
import type { EngineContext } from '../../context/context.ts'
import type { Classified } from '../../facts/insight/graph/index.ts'
import type { Turns } from '../../ports/runtime.ts'
import { collect } from './names.ts'

/** A page of members by name, and how many there are in all. */
export interface FoundMembers {
  readonly count: number
  readonly entries: readonly NameEntry[]
  readonly nextCursor: string | null
}

/** The page in question. */
export interface PageWanted {
  readonly text: string
  readonly limit: number
  readonly cursor?: string | undefined
}

/** A page of the entities of some classes, by name. Error: `COULD_NOT_VALIDATE` for an invalid cursor. */
export async function pageOfClasses(
  context: EngineContext,
  classified: Classified,
  classes: ReadonlySet<number>,
  order: NameOrder,
  { text, limit, cursor }: PageWanted,
): Promise<FoundMembers> {
  let count = 0
  for (const place of classes) count += classified.classes[place]?.count ?? 0
  const page = { text, limit, cursor }
  if (count <= FEW) return { count, ...(await pageOfIds(idsOf(classified, classes), order, page, context.turns)) }
  const holds = (id: string) => classes.has(classified.placeOf.get(id) ?? -1)
  return { count, ...(await pageOfNames(order, holds, page, context.turns)) }
}

/** Up to this many members are sorted by name. Of a larger group the list of all names is read: most of them are its members. */
export const FEW = 2000

/** A page of the entities of some ids, by name. Error: `COULD_NOT_VALIDATE` for an invalid cursor. */
export async function pageOfIds(
  ids: Iterable<string>,
  order: Pick<NameOrder, 'get'>,
  { text, limit, cursor }: PageWanted,
  turns: Turns,
): Promise<Omit<FoundMembers, 'count'>> {
  const found = await pickMembers(ids, order, { text, after: placeAfter(cursor), limit }, turns)
  return pageOf(found, limit)
}

/**
 * A page of the names for which `holds` is true, in order. It is quick where `holds` is true for many names. Error:
 * `COULD_NOT_VALIDATE` for an invalid cursor.
 */
export async function pageOfNames(
  order: NameOrder,
  holds: (id: string) => boolean,
  { text, limit, cursor }: PageWanted,
  turns: Turns,
): Promise<Omit<FoundMembers, 'count'>> {
  const wanted = foldName(text)
  const from = placeAfter(cursor) ?? { folded: '', id: '' }
  const found = await collect(order, from, limit + 1, turns, ({ id, folded }) =>
    folded.includes(wanted) && holds(id) ? 'found' : 'other',
  )
  return pageOf(found, limit)
}

function pageOf(found: readonly NameEntry[], limit: number): Omit<FoundMembers, 'count'> {
  const entries = found.slice(0, limit)
  const last = entries.at(-1)
  return { entries, nextCursor: found.length > limit && last !== undefined ? writeCursor(last) : null }
}

function placeAfter(cursor: string | undefined): NamePlace | undefined {
  if (cursor === undefined) return undefined
  const place = readCursor(cursor)
  if (place === undefined) throw invalidField('cursor', 'is no nextCursor of members', cursor)
  return place
}

function* idsOf({ members }: Classified, classes: ReadonlySet<number>): Generator<string> {
  for (const place of classes) yield* members[place] ?? []
}

/** The members in question. */
export interface MembersWanted {
  /** Only members whose name holds this text, in any case. */
  readonly text: string
  readonly after: NamePlace | undefined
  readonly limit: number
}

/** Picks the members of one page from the ids, by name, and one more where there is one. */
async function pickMembers(
  ids: Iterable<string>,
  order: Pick<NameOrder, 'get'>,
  { text, after, limit }: MembersWanted,
  turns: Turns,
): Promise<readonly NameEntry[]> {
  const wanted = foldName(text)
  const turn = turns.begin()
  const page: NameEntry[] = []
  for (const id of ids) {
    await turn()
    const entry = order.get(id)
    if (entry === undefined || (wanted !== '' && !entry.folded.includes(wanted))) continue
    if (after !== undefined && !isBefore(after, entry)) continue
    const last = page.at(-1)
    if (page.length > limit && last !== undefined && isBefore(last, entry)) continue
    const place = page.findIndex((other) => isBefore(entry, other))
    page.splice(place < 0 ? page.length : place, 0, entry)
    if (page.length > limit + 1) page.pop()
  }
  return page
}

/** The text that stands for the place right after an entry. */
function writeCursor({ folded, id }: NamePlace): string {
  return JSON.stringify([folded, id])
}

/** The place of a cursor; undefined for invalid text. */
function readCursor(text: string): NamePlace | undefined {
  try {
    const parts: unknown = JSON.parse(text)
    if (!Array.isArray(parts)) return undefined
    const [folded, id] = parts
    return typeof folded === 'string' && typeof id === 'string' ? { folded, id } : undefined
  } catch {
    return undefined
  }
}
