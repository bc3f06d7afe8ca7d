import type { EntityClass } from './classes.rules.ts'
import type { GraphPolicy, LinkType } from './role-policies.rules.ts'

/** A link between some members of two groups. */
export interface GroupEdge {
  /** Positions of groups. */
  readonly from: number
  readonly to: number
  readonly type: LinkType
  /** The number of linked pairs of members; all pairs if it is the product of both counts. */
  readonly pairs: number
  /** The positions of some of the policies. */
  readonly policies: readonly number[]
  readonly policyCount: number
  /** True when all of the policies demand posture of the endpoint. */
  readonly isGuarded: boolean
}

/** The entities of one kind, by class and by group. */
export interface End {
  readonly classes: readonly EntityClass[]
  /** The group of each class, by the position of the class. */
  readonly groupOf: Int32Array
  readonly groupCount: number
}

/** The most policies that an edge names. */
const MOST_NAMED = 5
const PIECE = 16

/** Classes that the same policies of one type select, with their numbers by group. */
interface Selection {
  readonly policies: readonly number[]
  /** The groups, with the number of each in `counts`. */
  readonly groups: number[]
  readonly counts: number[]
}

/** The edges of one type between groups. It yields between small pieces of work. */
export function* edgesOf(
  type: LinkType,
  policies: readonly GraphPolicy[],
  from: End,
  to: End,
): Generator<void, readonly GroupEdge[]> {
  const isOfType = (place: number) => policies[place]?.type === type
  const sources = yield* selectionsOf(from, isOfType)
  const targets = yield* selectionsOf(to, isOfType)
  const reached = new Map<number, number[]>()
  for (const [place, { policies: selecting }] of targets.entries()) {
    for (const policy of selecting) {
      const known = reached.get(policy)
      if (known === undefined) reached.set(policy, [place])
      else known.push(place)
    }
    if (place % PIECE === 0) yield
  }
  const width = to.groupCount
  const pairs = yield* pairsOf(sources, targets, reached, from.groupCount, width)
  const granting = yield* policiesBetween(sources, targets, policies, width)
  const edges: GroupEdge[] = []
  for (const [cell, count] of pairs.entries()) {
    if (count === 0) continue
    const { named = [], count: policyCount = 0, guarded = 0 } = granting.get(cell) ?? {}
    const ends = { from: Math.floor(cell / width), to: cell % width }
    edges.push({ ...ends, type, pairs: count, policies: named, policyCount, isGuarded: guarded === policyCount })
  }
  return edges
}

const NONE: readonly number[] = []

function* selectionsOf(
  { classes, groupOf }: End,
  isOfType: (policy: number) => boolean,
): Generator<void, readonly Selection[]> {
  const selections = new Map<string, Selection>()
  for (const [place, { policies, count }] of classes.entries()) {
    if (place % PIECE === 0) yield
    const selecting = policies.filter(isOfType)
    if (selecting.length === 0 || count === 0) continue
    const key = selecting.join()
    const known = selections.get(key)
    const selection = known ?? { policies: selecting, groups: [], counts: [] }
    if (known === undefined) selections.set(key, selection)
    const group = groupOf[place] ?? 0
    const own = selection.groups.indexOf(group)
    if (own >= 0) selection.counts[own] = (selection.counts[own] ?? 0) + count
    else {
      selection.groups.push(group)
      selection.counts.push(count)
    }
  }
  return [...selections.values()]
}

/** Counts the linked pairs between each two groups. A pair that several policies link counts once. */
function* pairsOf(
  sources: readonly Selection[],
  targets: readonly Selection[],
  reached: ReadonlyMap<number, readonly number[]>,
  height: number,
  width: number,
): Generator<void, Float64Array> {
  const pairs = new Float64Array(height * width)
  const seenBy = new Int32Array(targets.length).fill(-1)
  const row = new Float64Array(width)
  for (const [source, { policies, groups, counts }] of sources.entries()) {
    row.fill(0)
    for (const policy of policies) {
      for (const target of reached.get(policy) ?? NONE) {
        if (seenBy[target] === source) continue
        seenBy[target] = source
        const end = targets[target]
        // Runs hundreds of thousands of times: an iterator would take three times as long.
        for (let own = 0; end !== undefined && own < end.groups.length; own += 1) {
          const group = end.groups[own] ?? 0
          row[group] = (row[group] ?? 0) + (end.counts[own] ?? 0)
        }
      }
    }
    for (const [own, group] of groups.entries()) {
      const count = counts[own] ?? 0
      for (let column = 0; column < width; column += 1) {
        const cell = group * width + column
        pairs[cell] = (pairs[cell] ?? 0) + count * (row[column] ?? 0)
      }
    }
    yield
  }
  return pairs
}

interface Granting {
  readonly named: number[]
  count: number
  guarded: number
}

/** The policies that link each two groups, by cell. */
function* policiesBetween(
  sources: readonly Selection[],
  targets: readonly Selection[],
  policies: readonly GraphPolicy[],
  width: number,
): Generator<void, ReadonlyMap<number, Granting>> {
  const fromGroups = yield* countsByPolicy(sources)
  const toGroups = yield* countsByPolicy(targets)
  const between = new Map<number, Granting>()
  for (const [policy, rows] of fromGroups) {
    yield
    for (const row of rows.keys()) {
      for (const column of toGroups.get(policy)?.keys() ?? NONE) {
        const cell = row * width + column
        const granting = between.get(cell) ?? { named: [], count: 0, guarded: 0 }
        between.set(cell, granting)
        if (granting.count < MOST_NAMED) granting.named.push(policy)
        granting.count += 1
        if (policies[policy]?.isGuarded) granting.guarded += 1
      }
    }
  }
  return between
}

/** The members that each policy selects of each group. */
function* countsByPolicy(
  selections: readonly Selection[],
): Generator<void, ReadonlyMap<number, ReadonlyMap<number, number>>> {
  const selected = new Map<number, Map<number, number>>()
  for (const [place, { policies, groups, counts }] of selections.entries()) {
    if (place % PIECE === 0) yield
    for (const policy of policies) {
      const known = selected.get(policy) ?? new Map<number, number>()
      selected.set(policy, known)
      for (const [own, group] of groups.entries()) known.set(group, (known.get(group) ?? 0) + (counts[own] ?? 0))
    }
  }
  return selected
}

/** A policy between groups: the number of members that it selects of each group on each side. */
export interface PolicyBetween {
  readonly policy: number
  readonly from: ReadonlyMap<number, number>
  readonly to: ReadonlyMap<number, number>
}

/** The policies of one type that link any pair, those with most pairs first. It yields between small pieces of work. */
export function* policiesAmong(
  type: LinkType,
  policies: readonly GraphPolicy[],
  from: End,
  to: End,
): Generator<void, readonly PolicyBetween[]> {
  const isOfType = (place: number) => policies[place]?.type === type
  const sources = yield* countsByPolicy(yield* selectionsOf(from, isOfType))
  const targets = yield* countsByPolicy(yield* selectionsOf(to, isOfType))
  return [...sources]
    .flatMap(([policy, rows]) => {
      const columns = targets.get(policy)
      return columns === undefined ? [] : [{ policy, from: rows, to: columns, pairs: sumOf(rows) * sumOf(columns) }]
    })
    .sort((a, b) => b.pairs - a.pairs || a.policy - b.policy)
}

function sumOf(counts: ReadonlyMap<number, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
