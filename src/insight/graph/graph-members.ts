import { invalidField, notFound } from '../../domain/errors.ts'
import { type Classified, groupKey } from '../../domain/graph/index.ts'
import type { NameEntry } from '../../domain/names/name-order.ts'
import type { EngineContext } from '../context/context.ts'
import { commonDigest, type GroupName, readGroupKey } from './group-key.ts'
import { pickMembers, readCursor, writeCursor } from './members-page.ts'
import type { Names } from './names.ts'
import type { Partition } from './partition.ts'

/** How many entities or classes are looked at between two looks at the clock. */
const PIECE = 64

/** A page of members by name, and how many there are in all. */
export interface FoundMembers {
  readonly count: number
  readonly entries: readonly NameEntry[]
  readonly nextCursor: string | null
}

/** Which page is wanted. */
export interface PageWanted {
  readonly text: string
  readonly limit: number
  readonly cursor?: string | undefined
}

/**
 * A page of the members of a group, by name. Errors: `NOT_FOUND` for a group that is not there or not to be seen,
 * `COULD_NOT_VALIDATE` for a cursor of another make.
 */
export async function membersOf(
  context: EngineContext,
  partition: Partition,
  names: Names,
  group: string,
  { text, limit, cursor }: PageWanted,
): Promise<FoundMembers> {
  const after = cursor === undefined ? undefined : readCursor(cursor)
  if (cursor !== undefined && after === undefined) throw invalidField('cursor', 'is no nextCursor of members', cursor)
  const name = readGroupKey(group)
  const classified = partition.kinds.get(name.kind)
  const order = names.get(name.kind)
  if (classified === undefined || order === undefined) throw notFound('group', group)
  const classes = await classesOf(context, partition, classified, name)
  if (classes.size === 0) throw notFound('group', group)
  let count = 0
  for (const place of classes) count += classified.classes[place]?.count ?? 0
  const ids = await idsOf(context, classified, classes)
  const found = await pickMembers(ids, order, { text, after, limit }, context.turns)
  const entries = found.slice(0, limit)
  const last = entries.at(-1)
  return { count, entries, nextCursor: found.length > limit && last !== undefined ? writeCursor(last) : null }
}

/** The places of the classes that make up a group; none for a group that is not there. */
async function classesOf(
  { digest, turns }: EngineContext,
  partition: Partition,
  { classes }: Classified,
  { kind, by, which }: GroupName,
): Promise<ReadonlySet<number>> {
  const turn = turns.begin()
  const found = new Set<number>()
  if (typeof which !== 'string') {
    const grouped = (await partition.draw(by, which.rest)).grouped.get(kind)
    const rest = grouped?.groups.findIndex(({ key }) => key === '') ?? -1
    for (const place of classes.keys()) if (rest >= 0 && grouped?.groupOf[place] === rest) found.add(place)
    return found
  }
  const policyIds = partition.policies.map(({ id }) => id)
  for (const [place, one] of classes.entries()) {
    if (one.count > 0 && commonDigest(digest, groupKey(one, by, policyIds)) === which) found.add(place)
    await turn()
  }
  return found
}

async function idsOf(
  { turns }: EngineContext,
  { classOf, roster }: Classified,
  classes: ReadonlySet<number>,
): Promise<readonly string[]> {
  const turn = turns.begin()
  const ids: string[] = []
  for (const [slot, id] of roster.ids.entries()) {
    if (slot % PIECE === 0) await turn()
    if (id !== undefined && classes.has(classOf[slot] ?? -1)) ids.push(id)
  }
  return ids
}
