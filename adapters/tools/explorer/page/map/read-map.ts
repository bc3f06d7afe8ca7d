import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { numberText } from '../parts/number-text.ts'

/** Access to dial or bind, between few groups of identities and services. */
export type AccessMap = AnswerOf<PortcullisApi['GET /access-map']>['data']
export type MapLink = AccessMap['links'][number]
type AnsweredGroup = AccessMap['identities']['groups'][number]

export type Side = 'identities' | 'services'

/** A group with its words. */
export interface MapGroup extends AnsweredGroup {
  readonly title: string
  /** The larger group around it, in words; empty for none. */
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

/**
 * While no group is chosen, the drawing has at most this many lines, each for a tenth of their pairs or more. Beside them each group has
 * its strongest line, however thin: a group without any line reaches nothing, or is reached by nobody.
 */
const MOST_LINES = 60
const LEAST_SHARE = 0.1
const MOST_NAMED = 2
/** Characters of a title for which a box has room. */
export const TITLE_LENGTH = 23

/** The part of a network that is wanted. */
export interface MapQuestion {
  readonly identities: string | undefined
  readonly services: string | undefined
  readonly type: 'Dial' | 'Bind'
  /** The greatest number of groups of each kind; the default of the controller if it is left out. */
  readonly groups?: number
}

/** Reads the access map within two scopes. */
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
  const share = (link: MapLink) => shareOf({ sides }, link)
  const strongest = data.links.toSorted((a, b) => share(b) - share(a) || b.pairs - a.pairs)
  const drawn = new Set(strongest.filter((link) => share(link) >= LEAST_SHARE).slice(0, MOST_LINES))
  const touched = new Set<string>()
  for (const link of strongest) {
    const ends = [`from ${link.from}`, `to ${link.to}`]
    if (ends.some((end) => !touched.has(end))) drawn.add(link)
    for (const end of ends) touched.add(end)
  }
  return { type: data.type, sides, links: data.links, drawn }
}

/** Which part of all pairs of members of two groups a line stands for, 0 to 1. */
export function shareOf({ sides }: Pick<ShownMap, 'sides'>, { from, to, pairs }: MapLink): number {
  return pairs / ((sides.identities.groups[from]?.count ?? 1) * (sides.services.groups[to]?.count ?? 1))
}

/** The same in words. */
export function shareText(map: Pick<ShownMap, 'sides'>, link: MapLink): string {
  const share = shareOf(map, link)
  return share === 1 ? 'all' : `${numberText(Math.max(1, Math.round(100 * share)))} % of the pairs`
}

function titleOf(
  { roleAttributes, partOf, isRest, scope }: AnsweredGroup,
  side: Side,
): { title: string; within: string } {
  const within = partOf.length === 0 ? '' : named(partOf)
  if (!isRest) return { title: named(roleAttributes), within }
  if (scope === '[]') return { title: `All ${side}`, within }
  // Its members have these role attributes and no others.
  return { title: roleAttributes.length > 0 ? `Only ${named(roleAttributes)}` : 'None of these', within }
}

function named(attributes: readonly string[]): string {
  const withFirst = (most: number) => {
    const more = attributes.length - most
    const first = attributes.slice(0, most).map((attribute) => `#${attribute}`)
    return `${first.join(' ')}${more > 0 ? ` +${more}` : ''}`
  }
  const title = withFirst(MOST_NAMED)
  // How many others there are is not to be cut off.
  return title.length <= TITLE_LENGTH ? title : withFirst(1)
}
