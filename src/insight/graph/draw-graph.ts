import { ENDS, type GraphPolicy, type GroupEdge, type GroupedKind, type Grouping } from '../../domain/graph/index.ts'
import type { Digest } from '../../ports/credentials/digest.ts'
import type { GraphGroup, GraphLink, NetworkGraph } from '../../resources/access/graph-answers.ts'
import { commonDigest, writeGroupKey } from './group-key.ts'
import type { DrawnGroups, Partition } from './partition.ts'

/** How many links a graph has at most: those of fewest pairs are left out. */
const MOST_LINKS = 4000
/** How many role attributes of a group are shown, and how many characters they may have together. */
const MOST_ATTRIBUTES = 32
const MOST_CHARACTERS = 1024

/** A graph of groups in its form for callers. */
export function graphAnswer(
  digest: Digest,
  partition: Partition,
  { grouped, edges }: DrawnGroups,
  { kinds, by, most }: { readonly kinds: readonly string[]; readonly by: Grouping; readonly most: number },
): NetworkGraph {
  const groups: GraphGroup[] = []
  const firstOf = new Map<GroupedKind, number>()
  for (const [kind, { groups: ofKind }] of grouped) {
    firstOf.set(kind, groups.length)
    for (const { key, attributes, count } of ofKind) {
      const isRest = key === ''
      const which = isRest ? { rest: most } : commonDigest(digest, key)
      const roleAttributes = shown(attributes)
      const roleAttributeCount = attributes.length
      groups.push({ key: writeGroupKey({ kind, by, which }), kind, roleAttributes, roleAttributeCount, count, isRest })
    }
  }
  const kept = edges.length <= MOST_LINKS ? edges : largest(edges)
  const named = new Map<number, number>()
  const links = kept.map((edge): GraphLink => {
    const { from, to } = ENDS[edge.type]
    const policies = edge.policies.map((place) => renumbered(named, place))
    return { ...edge, from: (firstOf.get(from) ?? 0) + edge.from, to: (firstOf.get(to) ?? 0) + edge.to, policies }
  })
  const policies = [...named.keys()].flatMap((place) => partition.policies[place] ?? []).map(nameOf)
  const { revision } = partition
  return { revision, groupBy: by, kinds, groups, policies, links, linkCount: edges.length }
}

function nameOf({ id, name, type, isGuarded }: GraphPolicy) {
  return { id, name, type, isGuarded }
}

function renumbered(places: Map<number, number>, place: number): number {
  const known = places.get(place)
  if (known !== undefined) return known
  places.set(place, places.size)
  return places.size - 1
}

/** The links of most pairs. Numbers are sorted quickly, so the smallest count that is kept is found first. */
function largest(edges: readonly GroupEdge[]): readonly GroupEdge[] {
  const counts = Float64Array.from(edges, ({ pairs }) => pairs).sort()
  const least = counts[counts.length - MOST_LINKS] ?? 0
  const more = edges.filter(({ pairs }) => pairs > least)
  const equals = edges.filter(({ pairs }) => pairs === least).slice(0, MOST_LINKS - more.length)
  return [...more, ...equals]
}

/** Role attributes of which there may be many, each of a thousand characters. */
function shown(attributes: readonly string[]): readonly string[] {
  let characters = 0
  return attributes.slice(0, MOST_ATTRIBUTES).filter((attribute) => {
    characters += attribute.length
    return characters <= MOST_CHARACTERS
  })
}
