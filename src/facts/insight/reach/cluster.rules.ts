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

interface Cluster {
  members: number[]
  size: number
  selected: Float64Array
}

/** Joins the two groups of values with the most similar selections, until few enough groups remain. */
export function* cluster(
  facet: readonly number[],
  { counts }: Profile,
  most: number,
): Generator<void, readonly (readonly number[])[]> {
  const clusters = facet.flatMap((place): Cluster[] => {
    const { size, selected } = counts.get(place) ?? {}
    return size === undefined || selected === undefined ? [] : [{ members: [place], size, selected: selected.slice() }]
  })
  const fair = clusters.reduce((sum, { size }) => sum + size, 0) / most
  // A group that is much larger than its share is less informative.
  const costOf = (one: Cluster, other: Cluster) =>
    costOfJoining(one, other) * (1 + ((one.size + other.size) / fair) ** 2)
  const costs = new Map<Cluster, Map<Cluster, number>>()
  for (const [at, one] of clusters.entries()) {
    costs.set(one, new Map(clusters.slice(at + 1).map((other) => [other, costOf(one, other)])))
    yield
  }
  while (clusters.length > most) {
    const [kept, gone] = nearest(costs)
    if (kept === undefined || gone === undefined) break
    kept.members.push(...gone.members)
    kept.size += gone.size
    for (const [place, selected] of gone.selected.entries())
      kept.selected[place] = (kept.selected[place] ?? 0) + selected
    clusters.splice(clusters.indexOf(gone), 1)
    costs.delete(gone)
    for (const [one, row] of costs) {
      row.delete(gone)
      for (const other of one === kept ? row.keys() : row.has(kept) ? [kept] : []) row.set(other, costOf(one, other))
    }
    yield
  }
  return clusters.map(({ members }) => members)
}

/** The two clusters whose joining costs least; the first pair among equals. */
function nearest(costs: ReadonlyMap<Cluster, ReadonlyMap<Cluster, number>>): readonly Cluster[] {
  let least = Number.POSITIVE_INFINITY
  let pair: readonly Cluster[] = []
  for (const [one, row] of costs) {
    for (const [other, cost] of row) {
      if (cost >= least) continue
      least = cost
      pair = [one, other]
    }
  }
  return pair
}

/** The loss of difference between groups when two are joined (Ward's criterion). */
function costOfJoining(one: Cluster, other: Cluster): number {
  let distance = 0
  // Runs hundreds of thousands of times: an iterator would take three times as long.
  for (let place = 0; place < one.selected.length; place += 1) {
    const difference = (one.selected[place] ?? 0) / one.size - (other.selected[place] ?? 0) / other.size
    distance += difference * difference
  }
  return (distance * one.size * other.size) / (one.size + other.size)
}

/**
 * The share of the differences in policy selections that lies between the groups. It counts less when most entities are in one group or in
 * no group.
 */
export function* explained(
  { width, counts }: Profile,
  groups: readonly (readonly number[])[],
  all: number,
): Generator<void, number> {
  const rest = counts.get(NO_VALUE)?.size ?? 0
  const sizes = groups.map((group) => group.reduce((sum, value) => sum + (counts.get(value)?.size ?? 0), 0))
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
  return (total === 0 ? 0 : between / total) * evenness * (rest > all * LARGE_REST ? covered : 1) + covered / 1000
}
