import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { numberText } from '../parts/words.ts'

/** Access to dial or bind, between entities or few groups of them. */
export type AccessMap = AnswerOf<PortcullisApi['GET /access-map']>['data']
export type MapLink = AccessMap['links'][number]
export type MapPolicy = AccessMap['policies'][number]
export type MapProperty = AccessMap['identities']['properties'][number]
type AnsweredGroup = AccessMap['identities']['groups'][number]

export type Side = 'identities' | 'services'
export const SIDES: readonly Side[] = ['identities', 'services']

/** A group, or an entity, with its words. */
export interface MapGroup extends AnsweredGroup {
  /** Stays the same while the network changes. */
  readonly key: string
  readonly title: string
  /** A second line below the title; empty for none. */
  readonly within: string
}

/** One kind in a map, with titles. */
export interface ShownSide {
  readonly count: number
  readonly groups: readonly MapGroup[]
  readonly properties: readonly MapProperty[]
  readonly property: number
}

/** A map with titles. */
export interface ShownMap {
  readonly type: 'Dial' | 'Bind'
  readonly sides: Readonly<Record<Side, ShownSide>>
  readonly links: readonly MapLink[]
  readonly policies: readonly MapPolicy[]
  readonly policyCount: number
}

/** The most policies in a column. */
const MOST_POLICIES = 40

/** The part of a network that is wanted. */
export interface MapQuestion {
  readonly identities?: string | undefined
  readonly services?: string | undefined
  /** A role attribute of the property by which identities are divided; the controller chooses if it is left out. */
  readonly identitiesBy?: string | undefined
  readonly servicesBy?: string | undefined
  readonly type: 'Dial' | 'Bind'
  /** The greatest number of groups of each kind; the default of the controller if it is left out. */
  readonly groups?: number
  readonly hasPolicies?: boolean
}

/** Reads the access map within two scopes. */
export async function readMap(
  { portcullis }: Apis,
  { type, groups, hasPolicies, ...question }: MapQuestion,
  signal: AbortSignal,
): Promise<ShownMap> {
  const query = {
    type,
    ...Object.fromEntries(Object.entries(question).filter(([, value]) => value)),
    ...(groups && { groups: String(groups) }),
    ...(hasPolicies && { policies: String(MOST_POLICIES) }),
  }
  const { data } = await portcullis.call('GET /access-map', { query, signal })
  const titled = (side: Side): ShownSide => {
    const { groups: answered, ...rest } = data[side]
    const mixed = answered.filter(isMixed).length
    return { ...rest, groups: answered.map((group) => ({ ...group, ...wordsOf(group, side, mixed) })) }
  }
  const { links, policies, policyCount } = data
  return {
    type: data.type,
    sides: { identities: titled('identities'), services: titled('services') },
    links,
    policies,
    policyCount,
  }
}

/** Which part of all pairs of members of two groups a line stands for, 0 to 1. */
export function shareOf({ sides }: Pick<ShownMap, 'sides'>, { from, to, pairs }: MapLink): number {
  return pairs / ((sides.identities.groups[from]?.count ?? 1) * (sides.services.groups[to]?.count ?? 1))
}

/** A share in words. */
export function percentText(share: number): string {
  return share === 1 ? 'all' : `${numberText(Math.max(1, Math.round(100 * share)))} %`
}

/** The share of a line in words; empty between two entities, which have one pair. */
export function shareText(map: Pick<ShownMap, 'sides'>, link: MapLink): string {
  const { identities, services } = map.sides
  if (identities.groups[link.from]?.entity && services.groups[link.to]?.entity) return ''
  const share = shareOf(map, link)
  return share === 1 ? 'all' : `${percentText(share)} of the pairs`
}

/** Whether a group holds several role attributes of its property. */
function isMixed({ roleAttributes, isRest, entity }: AnsweredGroup): boolean {
  return !isRest && entity === null && roleAttributes.length > 1
}

function wordsOf(group: AnsweredGroup, side: Side, mixed: number): Pick<MapGroup, 'key' | 'title' | 'within'> {
  const { roleAttributes, isRest, scope, entity } = group
  if (entity) return { key: entity.id, title: entity.name, within: '' }
  const within = isOfRest(scope) && !isRest ? 'of the rest' : ''
  if (isMixed(group)) {
    const sorted = roleAttributes.toSorted()
    const title = mixed > 1 ? `#${sorted[0]} – #${sorted.at(-1)}` : `${sorted.length} other attributes`
    return { key: scope, title, within: mixed > 1 ? `${sorted.length} smaller attributes` : named(sorted) }
  }
  if (!isRest) return { key: scope, title: named(roleAttributes), within }
  if (scope === '[]') return { key: scope, title: `All ${side}`, within }
  // Its members have these role attributes and no others.
  return { key: scope, title: roleAttributes.length > 0 ? `Only ${named(roleAttributes)}` : 'None of these', within }
}

/** Whether the last step but one of a scope leaves out whatever has an attribute: then the last step divides a rest. */
function isOfRest(scope: string): boolean {
  return /\{"none":\[[^\]]*\]\},\{"any"/.test(scope.slice(scope.lastIndexOf('{"none"')))
}

/** The attributes of a scope, for the line above a part of a network. */
export function scopeTitle(scope: string): string {
  const words = [...scope.matchAll(/"any":(\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])/g)].map(([, list = '[]']) => {
    const attributes: unknown = JSON.parse(list)
    return Array.isArray(attributes) ? named(attributes.map(String)) : ''
  })
  return words.join(', ') || 'the rest'
}

function named(attributes: readonly string[]): string {
  const [first, second, ...more] = attributes.map((attribute) => `#${attribute}`)
  return [first, second, more.length > 0 && `+${more.length}`].filter(Boolean).join(' ')
}

/** The links of a group with groups of the other side, those with the most pairs first. */
export function linksOf(map: ShownMap, side: Side, place: number): readonly MapLink[] {
  return map.links
    .filter(({ from, to }) => (side === 'identities' ? from : to) === place)
    .toSorted((a, b) => b.pairs - a.pairs)
}

/** Whether a map has nothing to draw: lines need both of its sides. */
export function isEmptyMap({ sides }: ShownMap): boolean {
  return sides.identities.count === 0 || sides.services.count === 0
}
