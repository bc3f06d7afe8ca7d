import type { GroupKind, LinkType } from '../api/graph-rows.ts'
import { numberText } from '../parts/number-text.ts'

/** One and many of a kind, in the words of the field. */
export const KIND_WORDS = {
  identities: ['identity', 'identities'],
  services: ['service', 'services'],
  'edge-routers': ['edge router', 'edge routers'],
} as const satisfies Record<GroupKind, readonly [string, string]>

/** Words of a line, from its beginning to its end and back. */
export const LINK_WORDS = {
  Dial: ['May dial', 'Dialed by'],
  Bind: ['May bind', 'Bound by'],
  'edge-router': ['May connect to', 'Serves'],
  'service-edge-router': ['Carried by', 'Carries'],
} as const satisfies Record<LinkType, readonly [string, string]>

/** A number of things, as `1,204 identities` or `1 identity`. */
export function countText(count: number, kind: GroupKind): string {
  return `${numberText(count)} ${KIND_WORDS[kind][count === 1 ? 0 : 1]}`
}
