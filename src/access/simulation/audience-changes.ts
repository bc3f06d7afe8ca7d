import { invalidField } from '../../base/errors.ts'
import type { Reason } from '../../facts/access/decision.rules.ts'
import {
  type AccessIndex,
  type AccessType,
  applying,
  type IndexChange,
  reverting,
  SlotSet,
} from '../../facts/access/index/index.ts'
import type { PostureResponse } from '../../facts/access/posture/rules/index.ts'
import { compareStrings } from '../../kernel/filter/index.ts'
import type { Turns } from '../../ports/runtime.ts'

const ACCESS_TYPES = ['Bind', 'Dial'] as const satisfies readonly AccessType[]

/**
 * Bits of the audiences that are held while the index is changed: a larger number means fewer rounds of making the
 * changes and undoing them. They are 16 MiB, which is 320 services of 100,000 identities.
 */
const MOST_BITS = 64_000_000
const LEAST_SERVICES = 16
const MOST_SERVICES = 512

/** The identities that gain and lose one type of access to one service. The ids, ascending, are computed when the caller reads them. */
export interface AudienceChange {
  readonly serviceId: string
  readonly type: AccessType
  readonly gained: { readonly count: number; readonly ids: readonly string[] | undefined }
  readonly lost: { readonly count: number; readonly ids: readonly string[] | undefined }
}

type Turn = ReturnType<Turns['begin']>

/** The services whose audience the changes may touch, ascending. The index is as before when this resolves. */
export async function affectedServices(
  index: AccessIndex,
  changes: readonly IndexChange[],
  turns: Turns,
): Promise<readonly string[]> {
  const turn = turns.begin()
  const before = await servicesTouched(index, changes, turn)
  for (const _ of applying(index, changes)) await turn()
  const after = await servicesTouched(index, changes, turn)
  const onlyAfter = index.servicesIn(await touchedOnlyIn(after, before, changes, turn))
  for (const _ of reverting(index, changes)) await turn()
  const onlyBefore = index.servicesIn(await touchedOnlyIn(before, after, changes, turn))
  return [...new Set([...onlyBefore, ...onlyAfter])].sort()
}

/** The services that each change touches, as the index is now. */
async function servicesTouched(
  index: AccessIndex,
  changes: readonly IndexChange[],
  turn: Turn,
): Promise<readonly (readonly SlotSet[])[]> {
  const touched: (readonly SlotSet[])[] = []
  for (const { kind, id } of changes) {
    if (kind === 'services') touched.push([index.entitiesNamed(kind, [id])])
    else if (kind === 'identities') touched.push(ACCESS_TYPES.map((type) => index.reachOf(id, type)))
    else touched.push([index.selection(kind, id, 'services')])
    await turn()
  }
  return touched
}

/** An identity matters where its own list of services changes; a changed policy or service matters for every identity. */
async function touchedOnlyIn(
  one: readonly (readonly SlotSet[])[],
  other: readonly (readonly SlotSet[])[],
  changes: readonly IndexChange[],
  turn: Turn,
): Promise<SlotSet> {
  const all = new SlotSet()
  for (const [position, { kind }] of changes.entries()) {
    for (const [place, set] of one[position]?.entries() ?? []) {
      all.addAll(kind === 'identities' ? set.without(other[position]?.[place] ?? new SlotSet()) : set)
    }
    await turn()
  }
  return all
}

/**
 * Compares the audiences of services before and after the changes, in the order of `serviceIds`. The ids are listed too
 * while pairs are `missing`, and always for the first service: the page may begin in the middle of it. The index is as
 * before at every yield, and at the end.
 */
export async function* audienceChanges(
  index: AccessIndex,
  changes: readonly IndexChange[],
  serviceIds: readonly string[],
  turns: Turns,
  missing: () => number,
): AsyncGenerator<AudienceChange> {
  const turn = turns.begin()
  const size = servicesAtOnce(index)
  // Used again for every chunk: sets of a whole network, made anew each time, would keep the collector busy.
  const before: SlotSet[] = []
  const after = new SlotSet()
  for (let from = 0; from < serviceIds.length; from += size) {
    const pairs = serviceIds
      .slice(from, from + size)
      .flatMap((serviceId) => ACCESS_TYPES.map((type) => ({ serviceId, type })))
    for (const [position, { serviceId, type }] of pairs.entries()) {
      before[position] = index.audienceOf(serviceId, type, before[position])
      await turn()
    }
    for (const _ of applying(index, changes)) await turn()
    const found: (AudienceChange & { readonly losers: SlotSet | undefined })[] = []
    let rest = missing()
    for (const [position, { serviceId, type }] of pairs.entries()) {
      const known = before[position] ?? new SlotSet()
      index.audienceOf(serviceId, type, after)
      const isListed = rest > 0
      const [gained, lost] = [after.countWithout(known), known.countWithout(after)]
      const ids = isListed ? index.identitiesIn(after.without(known)) : undefined
      if (isListed) known.removeAll(after)
      // An entity that the changes remove has no id now; the ids of `lost` are read when the index is as before.
      const losers = isListed ? known : undefined
      found.push({ serviceId, type, gained: { count: gained, ids }, lost: { count: lost, ids: undefined }, losers })
      if (serviceId !== serviceIds[0]) rest -= gained + lost
      await turn()
    }
    for (const _ of reverting(index, changes)) await turn()
    for (const { losers, ...change } of found) {
      if (losers === undefined) yield change
      else yield { ...change, lost: { ...change.lost, ids: index.identitiesIn(losers) } }
      await turn()
    }
  }
}

function servicesAtOnce(index: AccessIndex): number {
  const bits = ACCESS_TYPES.length * Math.max(index.counts().identities, 1)
  return Math.min(Math.max(Math.floor(MOST_BITS / bits), LEAST_SERVICES), MOST_SERVICES)
}

/** The page of pairs that the caller asks for. */
export interface SimulationPage {
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. It names a pair, so it stays valid when the network changes meanwhile. */
  readonly cursor?: string | undefined
  /** True to say of each gained pair what would stand in the way of a connection; posture, edge routers and terminators are those of now. */
  readonly obstacles?: boolean | undefined
}

/** Circumstances under which posture counts too: access as it is now is compared with access as it would be. */
export interface SimulatedCircumstances {
  /** The identities whose access is judged, each by id or name, at most 100. When absent, all identities are judged, page by page. */
  readonly identities?: readonly string[] | undefined
  /** Taken as if every endpoint had reported it. */
  readonly posture?: readonly PostureResponse[] | undefined
  /** True to judge as if every identity had proved a second factor. */
  readonly mfa?: boolean | undefined
  /** The instant (epoch ms) at which it would be so; now when absent. */
  readonly at?: number | undefined
}

/** An entity by id and name. */
interface Named {
  readonly id: string
  readonly name: string
}

/** Access that one identity would gain or lose to one service. */
export interface ChangedPair {
  readonly identity: Named
  readonly service: Named
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
  /** The obstacle to a connection of a gained pair; null without an obstacle. Undefined unless it was asked for. */
  readonly obstacle?: Reason | null | undefined
}

/** How many pairs would gain and lose one type of access. */
export interface PairCounts {
  readonly gained: number
  readonly lost: number
}

export interface SimulationResult {
  /** The revision of the store that the changes were tried on. */
  readonly revision: number
  /** Over all pages; null on every page but the first. */
  readonly counts: { readonly dial: PairCounts; readonly bind: PairCounts } | null
  /** By service, type, gained before lost, and identity: ids in code-unit order. */
  readonly pairs: readonly ChangedPair[]
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** A pair and its change. Its members, in this order, are the order of all pairs. */
export interface PairKey {
  readonly serviceId: string
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
  readonly identityId: string
}

/** The text that stands for the place right after a pair. */
export function cursorOf({ serviceId, type, change, identityId }: PairKey): string {
  return JSON.stringify([serviceId, type, change, identityId])
}

/** Reads a cursor. Error: `COULD_NOT_VALIDATE` for an invalid one. */
export function readCursor(text: string): PairKey {
  const [serviceId, type, change, identityId] = membersOf(text)
  const isType = type === 'Dial' || type === 'Bind'
  const isChange = change === 'gained' || change === 'lost'
  if (typeof serviceId === 'string' && isType && isChange && typeof identityId === 'string') {
    return { serviceId, type, change, identityId }
  }
  throw invalidField('cursor', 'is not a nextCursor of a simulation', text)
}

/** The members of the JSON list in a cursor; empty for any other text. */
export function membersOf(text: string): readonly unknown[] {
  try {
    const members: unknown = JSON.parse(text)
    return Array.isArray(members) ? members : []
  } catch {
    return []
  }
}

/** True when a pair comes later than another. */
export function isAfter(key: PairKey, other: PairKey): boolean {
  const order =
    compareStrings(key.serviceId, other.serviceId) ||
    compareStrings(key.type, other.type) ||
    compareStrings(key.change, other.change) ||
    compareStrings(key.identityId, other.identityId)
  return order > 0
}
