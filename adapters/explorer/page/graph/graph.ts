import type { Apis } from '../api/apis.ts'
import type { GraphAnswer, GraphPolicy, Group, LinkType } from '../api/graph-rows.ts'
import { KIND_WORDS } from './words.ts'

/** The property that members of two groups have in common when they are drawn as one. */
export type Grouping = GraphAnswer['groupBy']

/** Policies that let members of one group reach members of another, groups by their keys. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly type: LinkType
  readonly pairs: number
  readonly policies: readonly GraphPolicy[]
  readonly policyCount: number
  readonly isGuarded: boolean
}

/** A group with what it is called: its role attributes, else the policies that select it. */
export interface ShownGroup extends Group {
  readonly title: string
}

export interface Graph {
  readonly groups: readonly ShownGroup[]
  readonly edges: readonly Edge[]
  /** How many links are too small to be among the edges. */
  readonly leftOut: number
}

/** Reads who reaches what, in a limited number of groups of each kind. */
export async function readGraph(apis: Apis, groupBy: Grouping, most: number, signal: AbortSignal): Promise<Graph> {
  const { data } = await apis.portcullis.call('GET /graph', { query: { groupBy, groups: String(most) }, signal })
  const edges = data.links.flatMap(({ from, to, policies, ...link }): Edge[] => {
    const [one, other] = [data.groups[from], data.groups[to]]
    const named = policies.flatMap((place) => data.policies[place] ?? [])
    return one && other ? [{ ...link, from: one.key, to: other.key, policies: named }] : []
  })
  const groups = data.groups.map((group) => ({ ...group, title: titleOf(group, groupBy, edges) }))
  return { groups, edges, leftOut: data.linkCount - data.links.length }
}

function titleOf(group: Group, groupBy: Grouping, edges: readonly Edge[]): string {
  const { key, kind, isRest, roleAttributes, roleAttributeCount } = group
  const more = roleAttributeCount - roleAttributes.length
  const named = roleAttributes.map((attribute) => `#${attribute}`).join(' ') + (more > 0 ? ` +${more}` : '')
  if (isRest) return named === '' ? `All other ${KIND_WORDS[kind][1]}` : `Others with ${named}`
  if (named !== '' || groupBy === 'role-attribute') return named || 'No role attribute'
  const touching = edges.filter(({ from, to }) => from === key || to === key)
  const policies = new Set(touching.flatMap((edge) => edge.policies.map(({ name }) => name)))
  return policies.size === 0 ? 'Reached by no policy' : [...policies].join(', ')
}
