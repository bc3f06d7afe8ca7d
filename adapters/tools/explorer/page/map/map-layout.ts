import { type MapGroup, type MapPolicy, percentText, type ShownMap, type Side, shareOf } from './read-map.ts'

/** A box: an entity, a group or a policy, by its column and its place there. */
export interface Spot {
  readonly column: ColumnName
  readonly place: number
}

export type ColumnName = Side | 'policies'

/** A box in a column. */
export interface MapNode {
  readonly key: string
  readonly title: string
  readonly within: string
  /** The members of a group; undefined for one entity or policy. */
  readonly count: number | undefined
  /** Which part of its side it is, 0 to 1. */
  readonly share: number
  readonly isLast: boolean
}

/** A line between two neighbouring columns. */
export interface MapEdge {
  readonly left: Spot
  readonly right: Spot
  /** Which part of all pairs it stands for, 0 to 1. */
  readonly share: number
  readonly words: string
  readonly isGuarded: boolean
}

/** A drawing before it has coordinates. */
export interface MapLayout {
  readonly columns: readonly { readonly name: ColumnName; readonly nodes: readonly MapNode[] }[]
  readonly edges: readonly MapEdge[]
  /** The lines that are drawn while nothing is pointed at: more would be a hairball. */
  readonly drawn: ReadonlySet<MapEdge>
  /** The row of each place of a column. */
  readonly rows: ReadonlyMap<ColumnName, readonly number[]>
}

/** Up to this many lines are all drawn. Of more, each box has its strongest, and others that stand for a tenth of their pairs or more. */
const MOST_LINES = 60
/** The eye follows a line that crosses no more others than this. */
const MOST_CROSSED = 4
const LEAST_SHARE = 0.1
/** Ends of lines are moved next to each other this many times. */
const PASSES = 6

/** Columns, lines and rows of a map; with its policies between both sides, where the map has them. */
export function layoutOf(map: ShownMap): MapLayout {
  const { identities, services } = map.sides
  const hasPolicies = map.policies.length > 0
  const nodesOf = (side: Side) => map.sides[side].groups.map((group) => nodeOf(group, map.sides[side].count))
  const columns = [
    { name: 'identities' as const, nodes: nodesOf('identities') },
    ...(hasPolicies ? [{ name: 'policies' as const, nodes: map.policies.map(policyNode) }] : []),
    { name: 'services' as const, nodes: nodesOf('services') },
  ]
  const edges = hasPolicies
    ? map.policies.flatMap((policy, place) => [
        ...policy.identities.map(({ group, count }) =>
          edgeOf(
            { column: 'identities', place: group },
            { column: 'policies', place },
            identities.groups,
            count,
            policy,
          ),
        ),
        ...policy.services.map(({ group, count }) =>
          edgeOf({ column: 'services', place: group }, { column: 'policies', place }, services.groups, count, policy),
        ),
      ])
    : map.links.map((link): MapEdge => {
        const share = shareOf(map, link)
        const isPair = identities.groups[link.from]?.entity && services.groups[link.to]?.entity
        return {
          left: { column: 'identities', place: link.from },
          right: { column: 'services', place: link.to },
          share,
          words: isPair ? '' : percentText(share),
          isGuarded: link.isGuarded,
        }
      })
  const rough = rowsOf(columns, edges)
  const slope = ({ left, right }: MapEdge) => Math.abs(heightOf(rough, left) - heightOf(rough, right))
  const strongest = strongestOf(edges.toSorted((a, b) => slope(a) - slope(b)))
  // Boxes that are linked by the lines that are drawn stand side by side.
  const rows = rowsOf(columns, strongest, rough)
  return { columns, edges, drawn: drawnOf(edges, strongest, rows), rows }
}

function nodeOf({ key, title, within, count, entity, isRest }: MapGroup, all: number): MapNode {
  return { key, title, within, count: entity ? undefined : count, share: count / Math.max(1, all), isLast: isRest }
}

function policyNode({ id, name }: MapPolicy): MapNode {
  return { key: id, title: name, within: '', count: undefined, share: 0, isLast: false }
}

function edgeOf(
  group: Spot,
  policy: Spot,
  groups: readonly MapGroup[],
  count: number,
  { isGuarded }: MapPolicy,
): MapEdge {
  const of = groups[group.place]
  const share = count / (of?.count ?? 1)
  const [left, right] = group.column === 'identities' ? [group, policy] : [policy, group]
  return { left, right, share, words: of?.entity ? '' : percentText(share), isGuarded }
}

export function isSame(one: Spot | undefined, other: Spot): boolean {
  return one?.column === other.column && one.place === other.place
}

/** The lines of what is pointed at: a line, or a box. From an entity they lead through its policies to the other side. */
export function litBy(edges: readonly MapEdge[], centre: Spot | MapEdge): ReadonlySet<MapEdge> {
  if (!('column' in centre)) return new Set([centre])
  const own = edges.filter(({ left, right }) => isSame(centre, left) || isSame(centre, right))
  if (centre.column === 'policies') return new Set(own)
  const policies = own.flatMap(({ left, right }) => [left, right]).filter(({ column }) => column === 'policies')
  const isOnward = ({ left, right }: MapEdge) =>
    left.column !== centre.column &&
    right.column !== centre.column &&
    policies.some((policy) => isSame(policy, left) || isSame(policy, right))
  return new Set([...own, ...edges.filter(isOnward)])
}

/** The strongest line of each box on each side, and the first of lines that are as strong. */
function strongestOf(edges: readonly MapEdge[]): readonly MapEdge[] {
  const touched = new Set<string>()
  return strongFirst(edges).filter((edge) => {
    // A policy has lines on both sides.
    const ends = [edge.left, edge.right].map(({ column, place }, side) => `${side} ${column} ${place}`)
    const isNeeded = ends.some((end) => !touched.has(end))
    if (isNeeded) for (const end of ends) touched.add(end)
    return isNeeded
  })
}

function strongFirst(edges: readonly MapEdge[]): readonly MapEdge[] {
  return edges.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share)
}

function drawnOf(
  edges: readonly MapEdge[],
  strongest: readonly MapEdge[],
  rows: MapLayout['rows'],
): ReadonlySet<MapEdge> {
  const drawn = new Set(edges.length > MOST_LINES ? strongest : edges)
  const rowOf = ({ column, place }: Spot) => rows.get(column)?.[place] ?? 0
  const isCrossing = (one: MapEdge, other: MapEdge) =>
    one.left.column === other.left.column &&
    (rowOf(one.left) - rowOf(other.left)) * (rowOf(one.right) - rowOf(other.right)) < 0
  const crossed = (edge: MapEdge) => [...drawn].filter((other) => isCrossing(edge, other))
  for (const edge of strongFirst(edges)) {
    if (drawn.size >= MOST_LINES || edge.share < LEAST_SHARE) break
    const others = crossed(edge)
    const isFollowed = [edge, ...others].every((one) => (one === edge ? others : crossed(one)).length < MOST_CROSSED)
    if (isFollowed) drawn.add(edge)
  }
  return drawn
}

/** The rows of boxes: next to the boxes that they are linked with, so that few lines cross; a rest last. */
function rowsOf(
  columns: MapLayout['columns'],
  edges: readonly MapEdge[],
  before?: MapLayout['rows'],
): MapLayout['rows'] {
  const rows = new Map<ColumnName, number[]>(
    columns.map(({ name, nodes }) => [name, [...(before?.get(name) ?? nodes.keys())]]),
  )
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (const { name, nodes } of pass % 2 === 0 ? columns.toReversed() : columns) {
      const sums = nodes.map(() => ({ weight: 0, sum: 0 }))
      for (const { left, right, share } of edges) {
        for (const [own, other] of [
          [left, right],
          [right, left],
        ] as const) {
          const entry = own.column === name ? sums[own.place] : undefined
          if (entry === undefined) continue
          entry.weight += share
          entry.sum += share * heightOf(rows, other)
        }
      }
      const at = (place: number) => {
        const { weight = 0, sum = 0 } = sums[place] ?? {}
        return (nodes[place]?.isLast ? 3 : 0) + (weight === 0 ? 2 : sum / weight)
      }
      const order = [...nodes.keys()].sort((a, b) => at(a) - at(b))
      const own = rows.get(name)
      for (const [row, place] of order.entries()) if (own) own[place] = row
    }
  }
  return rows
}

/** Columns of different lengths are compared by the part of their height, 0 to 1. */
function heightOf(rows: MapLayout['rows'], { column, place }: Spot): number {
  const own = rows.get(column) ?? []
  return ((own[place] ?? 0) + 0.5) / Math.max(1, own.length)
}
