import type { Edge, Group, GroupKind } from '../api/graph-rows.ts'

const NUMBER = new Intl.NumberFormat('en')

/** The plural of a kind, in the words of the field. */
const KIND_WORDS = {
  identity: 'identities',
  service: 'services',
  router: 'routers',
} as const satisfies Record<GroupKind, string>

/** A number of things, as `1,204 identities` or `1 identity`. */
function countText(count: number, kind: GroupKind): string {
  return `${NUMBER.format(count)} ${count === 1 ? kind : KIND_WORDS[kind]}`
}

export function numberText(count: number): string {
  return NUMBER.format(count)
}

/** The role attributes of a group, as policies name them. */
export function titleOf(group: Group): string {
  return group.attributes.length > 0 ? group.attributes.map((attribute) => `#${attribute}`).join(' ') : group.label
}

/** A group for a screen reader: what it is, and how many it is connected with. */
export function spokenGroup(group: Group, edges: readonly Edge[]): string {
  const others = new Set(edges.flatMap(({ from, to }) => (from === group.key ? [to] : to === group.key ? [from] : [])))
  return `${titleOf(group)}, ${countText(group.count, group.kind)}, connected with ${others.size} groups`
}
