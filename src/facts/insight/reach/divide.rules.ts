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

/** One condition of a scope: some role attribute of `any` is held, and none of `none`. An absent list asks for nothing. */
export interface ScopeStep {
  readonly any?: readonly string[] | undefined
  readonly none?: readonly string[] | undefined
}

/** Those who fulfil every step; everybody where there is none. */
export type Scope = readonly ScopeStep[]

/** Some of the entities of a scope, as they are shown together. */
export interface ScopeGroup {
  /** The steps from the scope that was divided to this group. */
  readonly steps: Scope
  /** The role attributes that its members have one of, the most frequent first; of a rest, those that all of it have and no others. */
  readonly attributes: readonly string[]
  /** The same for the larger group that holds it; empty where none does. */
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

/** Places that a large rest has for groups of its own where the others leave none: else it would say nothing of its members. */
const PLACES_OF_REST = 4
/** A group above this share is divided by another property, while there is room. */
const LARGE_GROUP = 0.4
/** No property explains as much: whichever leaves a small rest comes first. */
const BEST_EXPLAINED = 2
const PIECE = 64
/** The same of steps that only compare numbers. */
const LARGE_PIECE = 4096
const NONE: readonly string[] = []

/** Reports whether somebody with these role attributes is in a scope. */
export function isWithin(attributes: readonly string[], scope: Scope): boolean {
  return scope.every(({ any, none }) => {
    if (any !== undefined && !attributes.some((attribute) => any.includes(attribute))) return false
    return none === undefined || !attributes.some((attribute) => none.includes(attribute))
  })
}

/** The classes of a scope that somebody is in. It yields between small pieces of work. */
export function* classesWithin(classes: readonly EntityClass[], scope: Scope): Generator<void, readonly EntityClass[]> {
  const found: EntityClass[] = []
  for (const [at, one] of classes.entries()) {
    if (at % PIECE === 0) yield
    if (one.count > 0 && isWithin(one.attributes, scope)) found.push(one)
  }
  return found
}

/**
 * Divides classes into at most `most` groups and a rest: by the property whose values separate best whom policies select. A part of
 * others, `isPart`, is divided by a property that nearly all of it have, if there is one. A large rest has some places of its own.
 * Values that are selected alike stand in one group. It yields between small pieces of work.
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
  // Many who have no value of the property are told apart by another one, for which there must be room.
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

/** The terms on which a part is divided further. */
interface Again {
  readonly most: number
  readonly isOfType: (policy: number) => boolean
  readonly reserve: number
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
  const { places, members } = yield* membersOf(classes, groupOf, largest)
  const inner = yield* divide(members, room - 1, isOfType, true)
  // Parts, the largest of which is a rest, say less than the whole.
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

/** The classes of one group, and where each of them stands. */
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

/** The role attributes of all classes, where they have the same: whom policies name differ by nothing else. */
function* sharedBy(classes: readonly EntityClass[]): Generator<void, readonly string[] | undefined> {
  const attributes = classes[0]?.attributes ?? NONE
  for (const [at, other] of classes.entries()) {
    if (at % PIECE === 0) yield
    const isSame = other.attributes.length === attributes.length
    if (!isSame || other.attributes.some((one, place) => one !== attributes[place])) return undefined
  }
  return attributes
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
