import type { ShownGroup } from './graph.ts'
import type { Layout, Placed } from './layout.ts'

/** The group that an arrow key leads to from another: the next of the column, or the nearest of the next column. */
export function neighbourOf(
  key: string,
  arrow: string,
  groups: readonly ShownGroup[],
  layout: Layout,
): string | undefined {
  const here = layout.places.get(key)
  if (here === undefined) return undefined
  const lies = DIRECTIONS[arrow]
  if (lies === undefined) return undefined
  const candidates = groups.flatMap((group) => {
    const there = layout.places.get(group.key)
    return there && group.key !== key && lies(here, there) ? [{ key: group.key, far: distance(here, there) }] : []
  })
  candidates.sort((a, b) => a.far - b.far)
  return candidates[0]?.key
}

const DIRECTIONS: Readonly<Record<string, (from: Placed, to: Placed) => boolean>> = {
  ArrowUp: (from, to) => to.x === from.x && to.y < from.y,
  ArrowDown: (from, to) => to.x === from.x && to.y > from.y,
  ArrowLeft: (from, to) => to.x < from.x,
  ArrowRight: (from, to) => to.x > from.x,
}

/** Columns count for more than rows, so that an arrow never leaps over one. */
function distance(from: Placed, to: Placed): number {
  return Math.abs(to.x - from.x) * 100 + Math.abs(to.y - from.y)
}
