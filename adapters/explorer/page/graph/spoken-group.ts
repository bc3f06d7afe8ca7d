import type { Edge, ShownGroup } from './graph.ts'
import { countText } from './words.ts'

/** A group for a screen reader: what it is, and how many it is connected with. */
export function spokenGroup(group: ShownGroup, edges: readonly Edge[]): string {
  const others = new Set(edges.flatMap(({ from, to }) => (from === group.key ? [to] : to === group.key ? [from] : [])))
  return `${group.title} ${countText(group.count, group.kind)}, connected with ${others.size} groups`
}
