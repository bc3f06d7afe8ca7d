import { foldName, type NameEntry, type NameOrder } from '../../domain/names/name-order.ts'
import type { Turns } from '../../ports/turns.ts'

/** Finds the names that begin with a text and then those that hold it anywhere, in order, at most so many. */
export async function searchNames(
  order: NameOrder,
  text: string,
  most: number,
  turns: Turns,
): Promise<readonly NameEntry[]> {
  const wanted = foldName(text)
  const found = await collect(order, { folded: wanted, id: '' }, most, turns, ({ folded }) =>
    folded.startsWith(wanted) ? 'found' : 'done',
  )
  if (found.length >= most) return found
  const others = await collect(order, { folded: '', id: '' }, most - found.length, turns, ({ folded }) =>
    folded.includes(wanted) && !folded.startsWith(wanted) ? 'found' : 'other',
  )
  return [...found, ...others]
}

async function collect(
  order: NameOrder,
  from: Pick<NameEntry, 'folded' | 'id'>,
  most: number,
  turns: Turns,
  judge: (entry: NameEntry) => 'found' | 'other' | 'done',
): Promise<readonly NameEntry[]> {
  const found: NameEntry[] = []
  const turn = turns.begin()
  let place = from
  for (;;) {
    const entries = order.after(place)
    for (const entry of entries) {
      const verdict = judge(entry)
      if (verdict === 'done') return found
      if (verdict === 'found') found.push(entry)
      if (found.length >= most) return found
    }
    const last = entries.at(-1)
    if (last === undefined) return found
    place = last
    await turn()
  }
}
