import { notFound } from '../../base/errors.ts'
import type { EngineContext } from '../../context/context.ts'
import type {
  GraphEntity,
  GraphGroup,
  GraphLink,
  MatrixCell,
  NetworkGraph,
} from '../../facts/insight/graph/graph.resource.ts'
import {
  ENDS,
  type GraphPolicy,
  type GroupEdge,
  type GroupedKind,
  type Grouping,
} from '../../facts/insight/graph/index.ts'
import type { Digest } from '../../ports/credentials.ts'
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
  const { revision } = partition.place
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

/** Role attributes: there may be many, of a thousand characters each. */
function shown(attributes: readonly string[]): readonly string[] {
  let characters = 0
  return attributes.slice(0, MOST_ATTRIBUTES).filter((attribute) => {
    characters += attribute.length
    return characters <= MOST_CHARACTERS
  })
}

/** For how many services at once it is worked out what an identity may do. */
const SERVICES_AT_ONCE = 50

/** The cells of some identities and some services that are not empty. */
export async function cellsOf(
  { storage, access, turns }: Pick<EngineContext, 'access' | 'storage' | 'turns'>,
  identities: readonly GraphEntity[],
  services: readonly GraphEntity[],
): Promise<readonly MatrixCell[]> {
  const serviceIds = services.map(({ id }) => id)
  const index = await storage.read((tx) => access.at(tx))
  const turn = turns.begin()
  const cells: MatrixCell[] = []
  const pieces = Array.from({ length: Math.ceil(serviceIds.length / SERVICES_AT_ONCE) }, (_, n) => n * SERVICES_AT_ONCE)
  for (const [identity, { id }] of identities.entries()) {
    for (const from of pieces) {
      const some = index.separateGrantsOf(id, serviceIds.slice(from, from + SERVICES_AT_ONCE))
      for (const [place, grants] of some.entries()) {
        const service = from + place
        for (const type of ['Dial', 'Bind'] as const) {
          const granting = grants.filter((grant) => grant.type === type)
          if (granting.length === 0) continue
          const isGuarded = granting.every(({ checks }) => checks.length > 0)
          cells.push({ identity, service, type, policyCount: granting.length, isGuarded })
        }
      }
      await turn()
    }
  }
  return cells
}

/** Hexadecimal digits of the digest of what a group has in common. */
const DIGITS = 16

/** The group of everybody who is in none of the largest groups; `rest` is the number of those. */
interface RestOf {
  readonly rest: number
}

/** Which group of which kind is meant. */
export interface GroupName {
  readonly kind: GroupedKind
  readonly by: Grouping
  /** The digest of what its members have in common. */
  readonly which: string | RestOf
}

/** Writes the name of a group as requests and answers carry it. */
export function writeGroupKey({ kind, by, which }: GroupName): string {
  return `${kind}.${by}.${typeof which === 'string' ? which : `rest.${which.rest}`}`
}

/** Digests the text of the role attributes or policies that the members of a group have in common. */
export function commonDigest(digest: Digest, common: string): string {
  return digest.sha256(common).slice(0, DIGITS)
}

const KEY =
  /^(identities|services|edge-routers)\.(role-attribute|policy)\.(?:([0-9a-f]{16})|rest\.([2-9]|[1-9]\d|100))$/

/** Reads the key of a group. Error: `NOT_FOUND` for what is none. */
export function readGroupKey(text: string): GroupName {
  const [, kind, by, common, rest] = KEY.exec(text) ?? []
  if (kind === undefined) throw notFound('group', text)
  // The expression lets nothing else through.
  return { kind: kind as GroupedKind, by: by as Grouping, which: common ?? { rest: Number(rest) } }
}
