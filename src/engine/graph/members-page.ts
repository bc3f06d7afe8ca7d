import { foldName, isBefore, type NameEntry, type NameOrder, type NamePlace } from '../../domain/names/name-order.ts'
import type { Turns } from '../../ports/turns.ts'

/** Which members are wanted. */
export interface MembersWanted {
  /** Only those whose name holds this text, without regard to case. */
  readonly text: string
  readonly after: NamePlace | undefined
  readonly limit: number
}

/** Picks from the ids of members those of one page, by name, and one more where there is one. */
export async function pickMembers(
  ids: Iterable<string>,
  order: NameOrder,
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
export function writeCursor({ folded, id }: NamePlace): string {
  return JSON.stringify([folded, id])
}

/** The place that a cursor stands for; undefined for text that is none. */
export function readCursor(text: string): NamePlace | undefined {
  try {
    const parts: unknown = JSON.parse(text)
    if (!Array.isArray(parts)) return undefined
    const [folded, id] = parts
    return typeof folded === 'string' && typeof id === 'string' ? { folded, id } : undefined
  } catch {
    return undefined
  }
}
