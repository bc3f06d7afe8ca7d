import type { EntityClass } from './classes.rules.ts'
import type { Grouping } from './role-policies.rules.ts'

/** Classes that are drawn as one. */
export interface Group {
  /** Tells the group from others of its kind and grouping; empty for the group of everybody else. */
  readonly key: string
  /** The role attributes that all members have. */
  readonly attributes: readonly string[]
  readonly count: number
}

/** The groups of one kind: the largest by themselves, all others together in the last. */
export interface Grouped {
  readonly groups: readonly Group[]
  /** The group of each class, by its place. */
  readonly groupOf: Int32Array
}

interface Gathered {
  key: string
  attributes: readonly string[]
  count: number
  readonly classes: number[]
}

const PIECE = 64

/**
 * Gathers classes into at most `most` groups, the largest first. It yields between small pieces of work. `policyIds` name the
 * policies of the classes, so that a group keeps its key while others come and go.
 */
export function* gather(
  classes: readonly EntityClass[],
  by: Grouping,
  most: number,
  policyIds: readonly string[],
): Generator<void, Grouped> {
  const byKey = new Map<string, Gathered>()
  for (const [place, one] of classes.entries()) {
    if (place % PIECE === 0) yield
    const { attributes, count } = one
    if (count === 0) continue
    const key = groupKey(one, by, policyIds)
    const known = byKey.get(key)
    if (known === undefined) {
      byKey.set(key, { key, attributes, count, classes: [place] })
      continue
    }
    known.count += count
    known.classes.push(place)
    if (by === 'policy') known.attributes = known.attributes.filter((attribute) => attributes.includes(attribute))
  }
  const kept = yield* largest([...byKey.values()], most)
  const groupOf = new Int32Array(classes.length).fill(kept.length)
  for (const [place, group] of kept.entries()) for (const member of group.classes) groupOf[member] = place
  const groups = kept.map(({ key, attributes, count }): Group => ({ key, attributes, count }))
  if (kept.length === byKey.size) return { groups, groupOf }
  let others = 0
  for (const [place, { count }] of classes.entries()) if (groupOf[place] === kept.length) others += count
  return { groups: [...groups, { key: '', attributes: [], count: others }], groupOf }
}

/** The key of the group that a class is in, unless that is the last one. */
export function groupKey({ attributes, policies }: EntityClass, by: Grouping, policyIds: readonly string[]): string {
  return by === 'policy'
    ? JSON.stringify(policies.map((policy) => policyIds[policy]).sort())
    : attributesKey(attributes)
}

/** The key of the group of those who have exactly these role attributes, in code-unit order. */
export function attributesKey(attributes: readonly string[]): string {
  return JSON.stringify(attributes)
}

/** The groups that are drawn by themselves. Numbers are sorted quickly, so the smallest size that is kept is found first. */
function* largest(groups: readonly Gathered[], most: number): Generator<void, readonly Gathered[]> {
  const room = groups.length <= most ? most : most - 1
  const sizes = Float64Array.from(groups, ({ count }) => count).sort()
  const least = sizes[Math.max(sizes.length - room, 0)] ?? 0
  yield
  const candidates = groups.filter(({ count }) => count > least)
  const equals = groups.filter(({ count }) => count === least).slice(0, room - candidates.length)
  yield
  const order = (a: Gathered, b: Gathered) => b.count - a.count || compare(a.key, b.key)
  return [...candidates, ...equals].sort(order)
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
