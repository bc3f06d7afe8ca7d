import type { EntityClass } from '../graph/classes.rules.ts'
import type { Held, Telling } from './facets.rules.ts'

/** A rest above this share of all counts against a property, and is divided by another property. */
export const LARGE_REST = 0.1
/** Stands for the absence of a value. */
export const NO_VALUE = -1
const PIECE = 64

/** How often the most distinctive policies select the entities with each value of a facet, and the entities without a value. */
export interface Profile {
  readonly width: number
  /** By value, including {@link NO_VALUE}. */
  readonly counts: ReadonlyMap<number, { readonly size: number; readonly selected: Float64Array }>
}

export function* profileOf(
  classes: readonly EntityClass[],
  held: Held,
  { count: width, of: selecting }: Telling,
  facet: readonly number[],
): Generator<void, Profile> {
  const isValue = new Uint8Array(Math.max(0, ...facet) + 1)
  for (const value of facet) isValue[value] = 1
  const counts = new Map<number, { size: number; selected: Float64Array }>()
  for (const [at, { count }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const place = firstOf(held[at] ?? [], isValue)
    const own = counts.get(place) ?? { size: 0, selected: new Float64Array(width) }
    counts.set(place, own)
    own.size += count
    const { selected } = own
    for (const policy of selecting[at] ?? []) selected[policy] = (selected[policy] ?? 0) + count
  }
  return { width, counts }
}

function firstOf(values: readonly number[], isWanted: Uint8Array): number {
  for (const value of values) if (isWanted[value] === 1) return value
  return NO_VALUE
}

/** No range of values holds more of all than this share, or twice a fair share where few groups are allowed. */
const LARGEST_RANGE = 0.1

/**
 * The values of a facet in at most `most` groups: each value alone, the largest first. Where there are more values than groups, the smallest
 * values stand together in ranges by name, which a reader can find a value in.
 */
export function groupsOf(
  facet: readonly number[],
  { counts }: Profile,
  nameOf: (value: number) => string,
  most: number,
): readonly (readonly number[])[] {
  const sizeOf = (value: number) => counts.get(value)?.size ?? 0
  const sorted = facet.filter((value) => sizeOf(value) > 0).toSorted((a, b) => sizeOf(b) - sizeOf(a))
  if (sorted.length <= most) return sorted.map((value) => [value])
  const all = [...counts.values()].reduce((sum, { size }) => sum + size, 0)
  const largest = all * Math.max(LARGEST_RANGE, 2 / most)
  for (let alone = most - 1; ; alone -= 1) {
    const others = sorted.slice(alone).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    const ranges = rangesOf(others, sizeOf, largest)
    if (alone > 0 && alone + ranges.length > most) continue
    return [...sorted.slice(0, alone).map((value) => [value]), ...ranges]
  }
}

/** Values in the order in which they are given, each range as long as it is not larger than a size. */
function rangesOf(values: readonly number[], sizeOf: (value: number) => number, largest: number): readonly number[][] {
  const ranges: number[][] = []
  let [range, size]: [number[], number] = [[], 0]
  for (const value of values) {
    if (range.length > 0 && size + sizeOf(value) > largest) {
      ranges.push(range)
      range = []
      size = 0
    }
    range.push(value)
    size += sizeOf(value)
  }
  return [...ranges, range]
}

/**
 * The share of the differences in policy selections that lies between the groups. It counts less when most entities are in one group, in
 * groups of several values, or in no group.
 */
export function* explained(
  { width, counts }: Profile,
  groups: readonly (readonly number[])[],
  all: number,
): Generator<void, number> {
  const rest = counts.get(NO_VALUE)?.size ?? 0
  const sizes = groups.map((group) => group.reduce((sum, value) => sum + (counts.get(value)?.size ?? 0), 0))
  const alone = sizes.reduce((sum, size, place) => sum + (groups[place]?.length === 1 ? size : 0), 0)
  const evenness = 1 - sizes.reduce((sum, size) => sum + (size / all) ** 2, 0)
  let [between, total] = [0, 0]
  for (let place = 0; place < width; place += 1) {
    const sums = [...groups, [NO_VALUE]].map((group) => {
      const parts = group.flatMap((value) => counts.get(value) ?? [])
      const size = parts.reduce((sum, part) => sum + part.size, 0)
      return { size, selected: parts.reduce((sum, part) => sum + (part.selected[place] ?? 0), 0) }
    })
    const selected = sums.reduce((sum, part) => sum + part.selected, 0)
    between += sums.reduce((sum, part) => sum + (part.size === 0 ? 0 : part.selected ** 2 / part.size), 0)
    between -= selected ** 2 / all
    total += selected - selected ** 2 / all
    yield
  }
  const covered = 1 - rest / all
  const clear = (alone / Math.max(1, all - rest)) * (rest > all * LARGE_REST ? covered : 1)
  return (total === 0 ? 0 : between / total) * evenness ** 2 * clear + covered / 1000
}
