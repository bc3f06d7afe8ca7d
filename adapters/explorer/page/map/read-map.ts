import type { AnswerOf, PortcullisApi } from '../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'

/** Who may dial or bind what, in few groups. */
export type AccessMap = AnswerOf<PortcullisApi['GET /access-map']>['data']
export type MapLink = AccessMap['links'][number]
type AnsweredGroup = AccessMap['identities']['groups'][number]

export type Side = 'identities' | 'services'

/** A group with the words for it. */
export interface MapGroup extends AnsweredGroup {
  readonly title: string
  /** The larger group that it is a part of, in words; empty for none. */
  readonly within: string
}

/** A map with titles, and the lines that are drawn of it. */
export interface ShownMap {
  readonly type: 'Dial' | 'Bind'
  readonly sides: Readonly<Record<Side, { readonly count: number; readonly groups: readonly MapGroup[] }>>
  readonly links: readonly MapLink[]
  /** The strongest of them: more would be a hairball. */
  readonly drawn: ReadonlySet<MapLink>
}

/** At most this many lines are drawn while nothing is chosen, and none that stands for less than a tenth of its pairs. */
const MOST_LINES = 60
const LEAST_SHARE = 0.1
const MOST_NAMED = 2

/** The part of a network that is wanted. */
export interface MapQuestion {
  readonly identities: string | undefined
  readonly services: string | undefined
  readonly type: 'Dial' | 'Bind'
  /** How many groups of each kind are wanted at most; what the controller thinks right where it is left out. */
  readonly groups?: number
}

/** Reads who may dial or bind what within two scopes. */
export async function readMap(
  { portcullis }: Apis,
  { identities, services, type, groups }: MapQuestion,
  signal: AbortSignal,
): Promise<ShownMap> {
  const query = {
    type,
    ...(identities && { identities }),
    ...(services && { services }),
    ...(groups && { groups: String(groups) }),
  }
  const { data } = await portcullis.call('GET /access-map', { query, signal })
  const titled = (side: Side) => {
    const { count, groups } = data[side]
    // A group without members holds nothing to show.
    return { count, groups: groups.map((group) => ({ ...group, ...titleOf(group, side) })) }
  }
  const sides = { identities: titled('identities'), services: titled('services') }
  const share = ({ from, to, pairs }: MapLink) =>
    pairs / ((sides.identities.groups[from]?.count ?? 1) * (sides.services.groups[to]?.count ?? 1))
  const strong = data.links.filter((link) => share(link) >= LEAST_SHARE)
  const strongest = strong.toSorted((a, b) => share(b) - share(a) || b.pairs - a.pairs).slice(0, MOST_LINES)
  return { type: data.type, sides, links: data.links, drawn: new Set(strongest) }
}

function titleOf(
  { roleAttributes, partOf, isRest, scope }: AnsweredGroup,
  side: Side,
): { title: string; within: string } {
  const within = partOf.length === 0 ? '' : named(partOf)
  if (!isRest) return { title: named(roleAttributes), within }
  return { title: scope === '[]' ? `All ${side}` : 'None of these', within }
}

function named(attributes: readonly string[]): string {
  const more = attributes.length - MOST_NAMED
  const first = attributes.slice(0, MOST_NAMED).map((attribute) => `#${attribute}`)
  return `${first.join(' ')}${more > 0 ? ` +${more}` : ''}`
}
