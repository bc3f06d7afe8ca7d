import type { EntityClass } from '../graph/classes.rules.ts'
import { cluster, explained, LARGE_REST, NO_VALUE, type Profile, profileOf } from './cluster.rules.ts'
import {
  countTogether,
  facetsOf,
  frequent,
  heldBy,
  type Together,
  tellingPolicies,
  type Value,
} from './facets.rules.ts'

/** A condition of a scope: an entity has some role attribute of `any`, and no attribute of `none`. An absent list demands nothing. */
export interface ScopeStep {
  readonly any?: readonly string[] | undefined
  readonly none?: readonly string[] | undefined
}

/** The conditions of a scope. It holds the entities that fulfil every step; without steps, all entities. */
export type Scope = readonly ScopeStep[]

/** A group of a scope's entities that are shown together. */
export interface ScopeGroup {
  /** The steps from the divided scope to this group. */
  readonly steps: Scope
  /**
   * The role attributes of its members, the most frequent first; every member has at least one of them. For a rest: the attributes that all
   * its members share, if they have no others.
   */
  readonly attributes: readonly string[]
  /** The same for the larger group around it; empty without a larger group. */
  readonly partOf: readonly string[]
  readonly count: number
  /** True for the group of entities without the attributes of the other groups in the same larger group. */
  readonly isRest: boolean
}

/** The entities of a scope in groups: each class belongs to one. */
export interface Divided {
  readonly groups: readonly ScopeGroup[]
  readonly groupOf: Int32Array
  readonly count: number
}

/** Groups that are reserved for a large rest: otherwise it would say nothing about its members. */
const PLACES_OF_REST = 4
/** A group above this share is divided by another property, as long as the limit of groups permits. */
const LARGE_GROUP = 0.4
/** Higher than any property can explain: properties with a small rest come first. */
const BEST_EXPLAINED = 2
const PIECE = 64
/** The same for steps that only compare numbers. */
const LARGE_PIECE = 4096
const NONE: readonly string[] = []

/** Reports whether an entity with these role attributes is in a scope. */
export function isWithin(attributes: readonly string[], scope: Scope): boolean {
  return scope.every(({ any, none }) => {
    if (any !== undefined && !attributes.some((attribute) => any.includes(attribute))) return false
    return none === undefined || !attributes.some((attribute) => none.includes(attribute))
  })
}

/** The classes of a scope that have members. It yields between small pieces of work. */
export function* classesWithin(classes: readonly EntityClass[], scope: Scope): Generator<void, readonly EntityClass[]> {
  const found: EntityClass[] = []
  for (const [at, one] of classes.entries()) {
    if (at % PIECE === 0) yield
    if (one.count > 0 && isWithin(one.attributes, scope)) found.push(one)
  }
  return found
}

/**
 * Divides classes into at most `most` groups and a rest: by the property whose values best separate the selections of policies. A part of
 * another division (`isPart`) is divided by a property that nearly all its members have, if possible. Some groups are reserved for a large
 * rest. Values with similar selections share a group. It yields between small pieces of work.
 */
export function* divide(
  classes: readonly EntityClass[],
  most: number,
  isOfType: (policy: number) => boolean,
  isPart = false,
): Generator<void, Divided> {
  const count = classes.reduce((sum, one) => sum + one.count, 0)
  yield
  const values = yield* frequent(classes, count)
  const held = yield* heldBy(classes, values)
  const together = yield* countTogether(classes, held, values.length)
  const facets = yield* facetsOf(values, together)
  const selecting = yield* tellingPolicies(classes, count, isOfType)
  let best: { readonly facet: readonly number[]; readonly profile: Profile; readonly score: number } | undefined
  let groups: readonly (readonly number[])[] = []
  for (const facet of facets) {
    const profile = yield* profileOf(classes, held, selecting, facet)
    const joined = yield* cluster(facet, profile, most)
    const hasFew = (profile.counts.get(NO_VALUE)?.size ?? 0) <= count * LARGE_REST
    const score = (yield* explained(profile, joined, count)) + (isPart && hasFew ? BEST_EXPLAINED : 0)
    if (best !== undefined && score <= best.score) continue
    best = { facet, profile, score }
    groups = joined
  }
  // Many entities without a value of the property are divided by another property, which needs room.
  const half = Math.max(2, most >> 1)
  const left = best?.profile.counts.get(NO_VALUE)?.size ?? 0
  if (best !== undefined && left > count * LARGE_REST && groups.length > half) {
    groups = yield* cluster(best.facet, best.profile, half)
  }
  const ordered = groups
    .map((group) => ({ group, count: group.reduce((sum, value) => sum + (values[value]?.count ?? 0), 0) }))
    .sort((a, b) => b.count - a.count)
    .map(({ group }) => group)
  const again = { most, isOfType, reserve: isPart ? 0 : PLACES_OF_REST }
  return yield* divideLargest(classes, yield* assign(classes, values, together, ordered, count, again), again)
}

/** The conditions for dividing a part further. */
interface Again {
  readonly most: number
  readonly isOfType: (policy: number) => boolean
  readonly reserve: number
}

/** Divides the largest group if it holds much of all, as far as the limit of groups permits. */
function* divideLargest(
  classes: readonly EntityClass[],
  divided: Divided,
  { most, isOfType }: Again,
): Generator<void, Divided> {
  const { groups, groupOf, count } = divided
  const largest = groups.findIndex((group) => !group.isRest && group.count > count * LARGE_GROUP)
  const group = groups[largest]
  // Its own place, and the remaining places without the rest.
  const room = most - groups.length + 1
  if (group === undefined || room < 3) return divided
  const { places, members } = yield* membersOf(classes, groupOf, largest)
  const inner = yield* divide(members, room - 1, isOfType, true)
  // Parts with a large rest are less informative than the whole group.
  const isVague = inner.groups.some((part) => part.isRest && part.count > count * LARGE_REST)
  if (inner.groups.length < 2 || isVague) return divided
  const parts = inner.groups.map((part) => ({
    ...part,
    steps: [...group.steps, ...part.steps],
    partOf: part.partOf.length > 0 ? part.partOf : group.attributes,
  }))
  const after = groups.length - largest - 1
  yield
  const moved = groupOf.map((at) => (at > largest ? at + parts.length - 1 : at))
  for (const [position, at] of places.entries()) moved[at] = largest + (inner.groupOf[position] ?? 0)
  return {
    groups: [...groups.slice(0, largest), ...parts, ...groups.slice(groups.length - after)],
    groupOf: moved,
    count,
  }
}

/** The classes of one group, and their positions. */
function* membersOf(classes: readonly EntityClass[], groupOf: Int32Array, group: number) {
  const places: number[] = []
  const members: EntityClass[] = []
  for (const [at, one] of classes.entries()) {
    if (at % LARGE_PIECE === 0) yield
    if (groupOf[at] !== group) continue
    places.push(at)
    members.push(one)
  }
  return { places, members }
}

/** The role attributes that all classes share exactly: such classes differ only by policies that name their members. */
function* sharedBy(classes: readonly EntityClass[]): Generator<void, readonly string[] | undefined> {
  const attributes = classes[0]?.attributes ?? NONE
  for (const [at, other] of classes.entries()) {
    if (at % PIECE === 0) yield
    const isSame = other.attributes.length === attributes.length
    if (!isSame || other.attributes.some((one, place) => one !== attributes[place])) return undefined
  }
  return attributes
}

/** Puts each class into the first group with one of its values. The other classes are the rest, which is divided again if it is large. */
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
    let position = groups.length
    for (const name of attributes) position = Math.min(position, groupOfName.get(name) ?? position)
    groupOf[at] = position
    const group = groups[position]
    if (group === undefined) continue
    group.count += size
    left -= size
  }
  if (left === 0 && groups.length > 0) return { groups, groupOf, count }
  const none = [...groupOfName.keys()]
  const { places, members } = yield* membersOf(classes, groupOf, groups.length)
  const alike = yield* sharedBy(members)
  const room = Math.max(again.most - groups.length - 1, again.reserve)
  const isDivisible = alike === undefined && left > count * LARGE_REST && room > 0
  if (groups.length === 0 || !isDivisible) {
    const attributes = groups.length === 0 ? NONE : (alike ?? NONE)
    const rest = { steps: none.length > 0 ? [{ none }] : [], attributes, partOf: NONE, count: left, isRest: true }
    return { groups: [...groups, rest], groupOf, count }
  }
  const divided = yield* divide(members, room, again.isOfType, true)
  for (const [position, at] of places.entries()) groupOf[at] = groups.length + (divided.groupOf[position] ?? 0)
  const further = divided.groups.map((group) => ({ ...group, steps: [{ none }, ...group.steps] }))
  return { groups: [...groups, ...further], groupOf, count }
}
