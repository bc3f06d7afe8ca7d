import type { GraphGroup } from './access-graph.ts'

/** How many members are named; the others are counted. */
const MOST_NAMED = 4

/** The role attributes of a group, as `#employees #office`. */
export function groupTitle({ roleAttributes }: GraphGroup): string {
  return roleAttributes.length === 0 ? 'no role attribute' : roleAttributes.map((one) => `#${one}`).join(' ')
}

/** The members of a group, the first of them by name. */
export function groupMembers({ members }: GraphGroup): string {
  const rest = members.length - MOST_NAMED
  if (rest <= 0) return members.join(', ')
  return `${members.slice(0, MOST_NAMED).join(', ')} and ${rest} more`
}
