import type { EntityClass } from '../graph/classes.rules.ts'

/** Role attributes that are considered, the most frequent first. */
const MOST_ATTRIBUTES = 256
/** Attributes that hardly any entity has together are values of one property, such as the departments of a company. */
const TOGETHER_AT_MOST = 0.02
/** Properties that are tried; further properties separate less. */
const MOST_TRIED = 5
/** Policies that are compared: the most distinctive ones. */
const MOST_POLICIES = 64
const PIECE = 64

/** A role attribute, and the number of entities of the scope with it. */
export interface Value {
  readonly name: string
  readonly count: number
}

/** The role attributes that some but not all entities have, the most frequent first. */
export function* frequent(classes: readonly EntityClass[], all: number): Generator<void, readonly Value[]> {
  const counts = new Map<string, number>()
  for (const [place, { attributes, count }] of classes.entries()) {
    if (place % PIECE === 0) yield
    for (const name of attributes) counts.set(name, (counts.get(name) ?? 0) + count)
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .filter(({ count }) => count < all)
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_ATTRIBUTES)
}

/** The number of entities with two attributes, by the positions of both. */
export type Together = (one: number, other: number) => number

/** The positions of the values of each class. */
export type Held = readonly (readonly number[])[]

export function* heldBy(classes: readonly EntityClass[], values: readonly Value[]): Generator<void, Held> {
  const places = new Map(values.map(({ name }, place) => [name, place]))
  const held: (readonly number[])[] = []
  for (const [at, { attributes }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const own: number[] = []
    for (const name of attributes) {
      const place = places.get(name)
      if (place !== undefined) own.push(place)
    }
    held.push(own)
  }
  return held
}

export function* countTogether(classes: readonly EntityClass[], held: Held, width: number): Generator<void, Together> {
  const counts = new Float64Array(width * width)
  for (const [at, { count }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const own = held[at] ?? []
    for (const one of own)
      for (const other of own) counts[one * width + other] = (counts[one * width + other] ?? 0) + count
  }
  return (one, other) => counts[one * width + other] ?? 0
}

/** Sets of attributes: hardly any entity has two attributes of the same set. An attribute that begins no set may be in several. */
export function* facetsOf(
  values: readonly Value[],
  together: Together,
): Generator<void, readonly (readonly number[])[]> {
  const areApart = (one: number, other: number) => {
    const fewer = Math.min(values[one]?.count ?? 0, values[other]?.count ?? 0)
    return together(one, other) <= fewer * TOGETHER_AT_MOST
  }
  const facets: number[][] = []
  const begun = new Set<number>()
  for (const seed of values.keys()) {
    if (begun.has(seed)) continue
    yield
    const facet = [seed]
    // First the attributes of no other set: an attribute of another set may have nothing in common with a few of this one by chance.
    const candidates = [...values.keys()].sort((a, b) => Number(begun.has(a)) - Number(begun.has(b)) || a - b)
    for (const place of candidates) {
      if (place !== seed && facet.every((other) => areApart(place, other))) facet.push(place)
    }
    for (const place of facet) begun.add(place)
    facets.push(facet)
  }
  return facets
    .map((facet) => ({ facet, covered: facet.reduce((sum, place) => sum + (values[place]?.count ?? 0), 0) }))
    .sort((a, b) => b.covered - a.covered)
    .slice(0, MOST_TRIED)
    .map(({ facet }) => facet)
}

/** The most distinctive policies: their number, and for each class the policies that select it, by their positions in this selection. */
export interface Telling {
  readonly count: number
  readonly of: readonly (readonly number[])[]
}

export function* tellingPolicies(
  classes: readonly EntityClass[],
  all: number,
  isOfType: (policy: number) => boolean,
): Generator<void, Telling> {
  // By the positions of policies.
  const totals: number[] = []
  for (const [at, { policies, count }] of classes.entries()) {
    if (at % PIECE === 0) yield
    for (const policy of policies) {
      while (totals.length <= policy) totals.push(0)
      totals[policy] = (totals[policy] ?? 0) + count
    }
  }
  const spread = ({ total }: { readonly total: number }) => total * (1 - total / all)
  const chosen = totals
    .map((total, policy) => ({ policy, total }))
    .filter(({ policy, total }) => total > 0 && isOfType(policy))
    .sort((a, b) => spread(b) - spread(a))
    .slice(0, MOST_POLICIES)
  const places = new Int16Array(totals.length).fill(-1)
  for (const [place, { policy }] of chosen.entries()) places[policy] = place
  const of: (readonly number[])[] = []
  for (const [at, { policies }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const own: number[] = []
    for (const policy of policies) {
      const place = places[policy] ?? -1
      if (place >= 0) own.push(place)
    }
    of.push(own)
  }
  return { count: chosen.length, of }
}
