import type { EntityClass } from '../graph/classes.rules.ts'
import {
  countTogether,
  facetsOf,
  frequent,
  heldBy,
  type Together,
  tellingPolicies,
  type Value,
} from './facets.rules.ts'
import { explained, groupsOf, LARGE_REST, NO_VALUE, profileOf } from './separation.rules.ts'

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
  readonly count: number
  /** True for the group of entities without the attributes of the other groups. */
  readonly isRest: boolean
}

/** A property by which a scope can be divided: role attributes that hardly any entity has together. */
export interface Property {
  /** Its most frequent role attributes. */
  readonly attributes: readonly string[]
  readonly attributeCount: number
  /** The number of entities that have one of them. */
  readonly count: number
}

/** The entities of a scope in groups: each class belongs to one. */
export interface Divided {
  readonly groups: readonly ScopeGroup[]
  readonly groupOf: Int32Array
  readonly count: number
  /** The properties, and the place of the one by which the scope was divided; -1 if no role attribute divides it. */
  readonly properties: readonly Property[]
  readonly property: number
}

/** Groups that are reserved for a large rest: otherwise it would say nothing about its members. */
const PLACES_OF_REST = 4
/** Higher than any property can explain: properties with a small rest come first. */
const BEST_EXPLAINED = 2
/** Role attributes by which a property is shown. */
const MOST_SHOWN = 3
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

/** The places of the classes of a scope that have members. It yields between small pieces of work. */
export function* placesWithin(classes: readonly EntityClass[], scope: Scope): Generator<void, readonly number[]> {
  const found: number[] = []
  for (const [at, one] of classes.entries()) {
    if (at % PIECE === 0) yield
    if (one.count > 0 && isWithin(one.attributes, scope)) found.push(at)
  }
  return found
}

/** How a scope is divided. */
export interface DividedBy {
  /** The most groups, parts of a rest aside. */
  readonly most: number
  readonly isOfType: (policy: number) => boolean
  /** A role attribute of the property that is used; then the rest is one group. The property that separates best is used if it is left out. */
  readonly by?: string | undefined
  /** Whether it is a part of another division, which nearly all its members should be divided in. */
  readonly isPart?: boolean
}

/**
 * Divides classes into at most `most` groups and a rest: by the property whose values best separate the selections of policies, or by that
 * which has a role attribute. Each value is a group, as far as the limit permits. A part of another division is divided by a property that
 * nearly all its members have, if possible. Some groups are reserved for a large rest. It yields between small pieces of work.
 */
export function* divide(classes: readonly EntityClass[], dividedBy: DividedBy): Generator<void, Divided> {
  const { most, isOfType, by, isPart = false } = dividedBy
  const count = classes.reduce((sum, one) => sum + one.count, 0)
  yield
  const values = yield* frequent(classes, count)
  const nameOf = (place: number) => values[place]?.name ?? ''
  const held = yield* heldBy(classes, values)
  const together = yield* countTogether(classes, held, values.length)
  const facets = yield* facetsOf(values, together)
  const selecting = yield* tellingPolicies(classes, count, isOfType)
  // A property is named by its first value. Others of its values may be in several.
  const named = facets.findIndex(([first = -1]) => nameOf(first) === by)
  const wanted = named >= 0 ? named : facets.findIndex((facet) => facet.some((value) => nameOf(value) === by))
  const properties: Property[] = []
  let property = -1
  let best = Number.NEGATIVE_INFINITY
  let groups: readonly (readonly number[])[] = []
  for (const [at, facet] of facets.entries()) {
    const profile = yield* profileOf(classes, held, selecting, facet)
    const left = profile.counts.get(NO_VALUE)?.size ?? 0
    const attributes = facet.slice(0, MOST_SHOWN).map(nameOf)
    properties.push({ attributes, attributeCount: facet.length, count: count - left })
    const isDividedAgain = wanted < 0 && left > count * LARGE_REST
    // Many entities without a value of the property are divided by another property, which needs room.
    const found = groupsOf(facet, profile, nameOf, isDividedAgain ? Math.max(2, most >> 1) : most)
    const hasFew = left <= count * LARGE_REST
    const score = at === wanted ? BEST_EXPLAINED * 2 : yield* explained(profile, found, count)
    const whole = score + (isPart && hasFew ? BEST_EXPLAINED : 0)
    if (whole <= best) continue
    best = whole
    property = at
    groups = found
  }
  const reserve = wanted >= 0 || isPart ? 0 : PLACES_OF_REST
  const again = { most: wanted >= 0 ? 0 : most, isOfType, reserve }
  return { ...(yield* assign(classes, values, together, groups, count, again)), properties, property }
}

/** The conditions for dividing a rest further. */
interface Again {
  readonly most: number
  readonly isOfType: (policy: number) => boolean
  readonly reserve: number
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
): Generator<void, Pick<Divided, 'groups' | 'groupOf' | 'count'>> {
  const nameOf = (place: number) => values[place]?.name ?? ''
  const groups = ordered.map((group, position) => {
    const earlier = ordered.slice(0, position).flat()
    const none = earlier.filter((place) => group.some((own) => together(own, place) > 0)).map(nameOf)
    const attributes = group.toSorted((a, b) => a - b).map(nameOf)
    const steps = [{ any: attributes, ...(none.length > 0 && { none }) }]
    return { steps, attributes, count: 0, isRest: false }
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
    const rest = { steps: none.length > 0 ? [{ none }] : [], attributes, count: left, isRest: true }
    return { groups: [...groups, rest], groupOf, count }
  }
  const divided = yield* divide(members, { most: room, isOfType: again.isOfType, isPart: true })
  for (const [position, at] of places.entries()) groupOf[at] = groups.length + (divided.groupOf[position] ?? 0)
  const further = divided.groups.map((group) => ({ ...group, steps: [{ none }, ...group.steps] }))
  return { groups: [...groups, ...further], groupOf, count }
}
