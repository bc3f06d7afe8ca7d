import type { EntityClass } from '../graph/classes.rules.ts'

/** One condition of a scope: some role attribute of `any` is held, and none of `none`. An absent list asks for nothing. */
export interface ScopeStep {
  readonly any?: readonly string[] | undefined
  readonly none?: readonly string[] | undefined
}

/** Those who fulfil every step; everybody where there is none. */
export type Scope = readonly ScopeStep[]

/** Some of the entities of a scope, as they are shown together. */
export interface ScopeGroup {
  /** The steps by which it is told from the scope that was divided. */
  readonly steps: Scope
  /** The role attributes that its members have one of, the most frequent first. */
  readonly attributes: readonly string[]
  /** The same of the larger group that it is a part of; empty where it is part of none. */
  readonly partOf: readonly string[]
  readonly count: number
  /** It holds everybody who has none of the attributes of the other groups, of those that are part of the same one. */
  readonly isRest: boolean
}

/** The entities of a scope in groups: each class belongs to one. */
export interface Divided {
  readonly groups: readonly ScopeGroup[]
  readonly groupOf: Int32Array
  readonly count: number
}

/** How many role attributes are looked at, the most frequent first. */
const MOST_ATTRIBUTES = 256
/** Attributes that hardly anybody has together are values of one property, such as the departments of a company. */
const TOGETHER_AT_MOST = 0.02
const MOST_FACETS = 24
/** How many of them are tried out; the others tell less apart. */
const MOST_TRIED = 5
/** How many policies are compared: those that tell most apart. */
const MOST_POLICIES = 64
/** A rest above this share is divided again, while there is room. */
const LARGE_REST = 0.1
/** A group above this share is divided by another property, while there is room. */
const LARGE_GROUP = 0.4
const PIECE = 64
const NONE: readonly string[] = []

/** Reports whether somebody with these role attributes is in a scope. */
export function isWithin(attributes: readonly string[], scope: Scope): boolean {
  return scope.every(({ any, none }) => {
    if (any !== undefined && !attributes.some((attribute) => any.includes(attribute))) return false
    return none === undefined || !attributes.some((attribute) => none.includes(attribute))
  })
}

/**
 * Divides classes into at most `most` groups and a rest: by the property whose values tell best apart whom policies select.
 * Values that are selected alike stand in one group. It yields between small pieces of work.
 */
export function* divide(
  classes: readonly EntityClass[],
  most: number,
  isOfType: (policy: number) => boolean,
): Generator<void, Divided> {
  const count = classes.reduce((sum, one) => sum + one.count, 0)
  const values = yield* frequent(classes, count)
  const held = yield* heldBy(classes, values)
  const together = yield* countTogether(classes, held, values.length)
  const facets = facetsOf(values, together)
  const selecting = yield* tellingPolicies(classes, count, isOfType)
  let best: { readonly groups: readonly (readonly number[])[]; readonly score: number } | undefined
  for (const facet of facets.slice(0, MOST_FACETS)) {
    const profile = yield* profileOf(classes, held, selecting, facet)
    const groups = yield* cluster(facet, profile, most)
    const score = yield* explained(profile, groups, count)
    if (best === undefined || score > best.score) best = { groups, score }
  }
  const ordered = (best?.groups ?? [])
    .map((group) => ({ group, count: group.reduce((sum, value) => sum + (values[value]?.count ?? 0), 0) }))
    .sort((a, b) => b.count - a.count)
    .map(({ group }) => group)
  const again = { most, isOfType }
  return yield* divideLargest(classes, yield* assign(classes, values, together, ordered, count, again), again)
}

/** The terms on which a part is divided further. */
interface Again {
  readonly most: number
  readonly isOfType: (policy: number) => boolean
}

/** Divides the largest group where it holds much of all, as far as there is room. */
function* divideLargest(
  classes: readonly EntityClass[],
  divided: Divided,
  { most, isOfType }: Again,
): Generator<void, Divided> {
  const { groups, groupOf, count } = divided
  const largest = groups.findIndex((group) => !group.isRest && group.count > count * LARGE_GROUP)
  const group = groups[largest]
  // Its place, and what is left beside a rest.
  const room = most - groups.length + 1
  if (group === undefined || room < 3) return divided
  const places = [...classes.keys()].filter((at) => groupOf[at] === largest)
  const members = places.flatMap((at) => classes[at] ?? [])
  const inner = yield* divide(members, room - 1, isOfType)
  if (inner.groups.length < 2) return divided
  const parts = inner.groups.map((part) => ({
    ...part,
    steps: [...group.steps, ...part.steps],
    partOf: part.partOf.length > 0 ? part.partOf : group.attributes,
  }))
  const after = groups.length - largest - 1
  const moved = groupOf.map((at) => (at > largest ? at + parts.length - 1 : at))
  for (const [position, at] of places.entries()) moved[at] = largest + (inner.groupOf[position] ?? 0)
  return {
    groups: [...groups.slice(0, largest), ...parts, ...groups.slice(groups.length - after)],
    groupOf: moved,
    count,
  }
}

/** A role attribute, and how many of the scope have it. */
interface Value {
  readonly name: string
  readonly count: number
}

/** The role attributes that some have and some have not, the most frequent first. */
function* frequent(classes: readonly EntityClass[], all: number): Generator<void, readonly Value[]> {
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

/** How many have two attributes, by the places of both. */
type Together = (one: number, other: number) => number

/** The places of the values that each class has. */
type Held = readonly (readonly number[])[]

function* heldBy(classes: readonly EntityClass[], values: readonly Value[]): Generator<void, Held> {
  const places = new Map(values.map(({ name }, place) => [name, place]))
  const held: (readonly number[])[] = []
  for (const [at, { attributes }] of classes.entries()) {
    if (at % PIECE === 0) yield
    held.push(attributes.flatMap((name) => places.get(name) ?? []))
  }
  return held
}

function* countTogether(classes: readonly EntityClass[], held: Held, width: number): Generator<void, Together> {
  const counts = new Float64Array(width * width)
  for (const [at, { count }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const own = held[at] ?? []
    for (const one of own)
      for (const other of own) counts[one * width + other] = (counts[one * width + other] ?? 0) + count
  }
  return (one, other) => counts[one * width + other] ?? 0
}

/** Sets of attributes: hardly anybody has two of the same set. An attribute that begins no set may be in several. */
function facetsOf(values: readonly Value[], together: Together): readonly (readonly number[])[] {
  const areApart = (one: number, other: number) => {
    const fewer = Math.min(values[one]?.count ?? 0, values[other]?.count ?? 0)
    return together(one, other) <= fewer * TOGETHER_AT_MOST
  }
  const facets: number[][] = []
  const begun = new Set<number>()
  for (const seed of values.keys()) {
    if (begun.has(seed)) continue
    const facet = [seed]
    for (const place of values.keys()) {
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

/** The policies that tell most apart, by their places in this list, for each class those that select it. */
interface Telling {
  readonly count: number
  readonly of: readonly (readonly number[])[]
}

function* tellingPolicies(
  classes: readonly EntityClass[],
  all: number,
  isOfType: (policy: number) => boolean,
): Generator<void, Telling> {
  const totals = new Map<number, number>()
  for (const [at, { policies, count }] of classes.entries()) {
    if (at % PIECE === 0) yield
    for (const policy of policies) totals.set(policy, (totals.get(policy) ?? 0) + count)
  }
  const spread = ([, total]: readonly [number, number]) => total * (1 - total / all)
  const chosen = [...totals]
    .filter(([policy]) => isOfType(policy))
    .sort((a, b) => spread(b) - spread(a))
    .slice(0, MOST_POLICIES)
  const places = new Map(chosen.map(([policy], place) => [policy, place]))
  const of: (readonly number[])[] = []
  for (const [at, { policies }] of classes.entries()) {
    if (at % PIECE === 0) yield
    of.push(policies.flatMap((policy) => places.get(policy) ?? []))
  }
  return { count: chosen.length, of }
}

/** How often the policies that tell most apart select those who have each value of a facet, and those who have none of them. */
interface Profile {
  readonly width: number
  /** By value; -1 stands for none of them. */
  readonly counts: ReadonlyMap<number, { readonly size: number; readonly selected: Float64Array }>
}

function* profileOf(
  classes: readonly EntityClass[],
  held: Held,
  { count: width, of: selecting }: Telling,
  facet: readonly number[],
): Generator<void, Profile> {
  const values = new Set(facet)
  const counts = new Map<number, { size: number; selected: Float64Array }>()
  for (const [at, { count }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const place = held[at]?.find((value) => values.has(value)) ?? -1
    const own = counts.get(place) ?? { size: 0, selected: new Float64Array(width) }
    counts.set(place, own)
    own.size += count
    for (const policy of selecting[at] ?? []) own.selected[policy] = (own.selected[policy] ?? 0) + count
  }
  return { width, counts }
}

interface Cluster {
  members: number[]
  size: number
  selected: Float64Array
}

/** Joins the two groups of values that are selected most alike, until there are few enough. */
function* cluster(
  facet: readonly number[],
  { counts }: Profile,
  most: number,
): Generator<void, readonly (readonly number[])[]> {
  const clusters = facet.flatMap((place): Cluster[] => {
    const { size, selected } = counts.get(place) ?? {}
    return size === undefined || selected === undefined ? [] : [{ members: [place], size, selected: selected.slice() }]
  })
  const fair = clusters.reduce((sum, { size }) => sum + size, 0) / most
  // A group that holds much more than its part of all says little.
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

/** The two of which joining costs least, the first of equals. */
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

/** How much is told apart less when two groups become one (the criterion of Ward). */
function costOfJoining(one: Cluster, other: Cluster): number {
  let distance = 0
  for (const [place, selected] of one.selected.entries()) {
    const difference = selected / one.size - (other.selected[place] ?? 0) / other.size
    distance += difference * difference
  }
  return (distance * one.size * other.size) / (one.size + other.size)
}

/**
 * Which share of the differences in what policies select lies between the groups. It counts for less where most are in one
 * group, or in none.
 */
function* explained(
  { width, counts }: Profile,
  groups: readonly (readonly number[])[],
  all: number,
): Generator<void, number> {
  const rest = counts.get(-1)?.size ?? 0
  const sizes = groups.map((group) => group.reduce((sum, value) => sum + (counts.get(value)?.size ?? 0), 0))
  const evenness = 1 - sizes.reduce((sum, size) => sum + (size / all) ** 2, 0)
  let [between, total] = [0, 0]
  for (let place = 0; place < width; place += 1) {
    const sums = [...groups, [-1]].map((group) => {
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

/** Puts each class into the first group one of whose values it has; what is left is the rest, divided again where it is large. */
function* assign(
  classes: readonly EntityClass[],
  values: readonly Value[],
  together: Together,
  ordered: readonly (readonly number[])[],
  count: number,
  again: Again,
): Generator<void, Divided> {
  const nameOf = (place: number) => values[place]?.name ?? ''
  const groups = ordered.map((group, position) => {
    const earlier = ordered.slice(0, position).flat()
    const none = earlier.filter((place) => group.some((own) => together(own, place) > 0)).map(nameOf)
    const attributes = group.toSorted((a, b) => a - b).map(nameOf)
    const steps = [{ any: attributes, ...(none.length > 0 && { none }) }]
    return { steps, attributes, partOf: NONE, count: 0, isRest: false }
  })
  const groupOfName = new Map(ordered.flatMap((group, position) => group.map((place) => [nameOf(place), position])))
  const groupOf = new Int32Array(classes.length)
  let left = count
  for (const [at, { attributes, count: size }] of classes.entries()) {
    if (at % PIECE === 0) yield
    const position = Math.min(...attributes.flatMap((name) => groupOfName.get(name) ?? []), groups.length)
    groupOf[at] = position
    const group = groups[position]
    if (group === undefined) continue
    group.count += size
    left -= size
  }
  if (left === 0 && groups.length > 0) return { groups, groupOf, count }
  const none = [...groupOfName.keys()]
  const isDivisible = groups.length > 0 && left > count * LARGE_REST && groups.length + 1 < again.most
  if (!isDivisible) {
    const rest = { steps: none.length > 0 ? [{ none }] : [], attributes: NONE, partOf: NONE, count: left, isRest: true }
    return { groups: [...groups, rest], groupOf, count }
  }
  const places = [...classes.keys()].filter((at) => groupOf[at] === groups.length)
  const others = places.flatMap((at) => classes[at] ?? [])
  const divided = yield* divide(others, again.most - groups.length - 1, again.isOfType)
  for (const [position, at] of places.entries()) groupOf[at] = groups.length + (divided.groupOf[position] ?? 0)
  const further = divided.groups.map((group) => ({ ...group, steps: [{ none }, ...group.steps] }))
  return { groups: [...groups, ...further], groupOf, count }
}
