import { type Limits, tooLarge } from '../base/limits.ts'
import type { EngineContext, OwnerCount } from '../context/context.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { equals, type Filter } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { deleteBatch } from './deletion.ts'
import { collectionOf, ifReadable } from './read-records.ts'
import { MORE, WHOLE, type WriteBatch } from './write-batches.ts'

/** The most records that one insertion ends, where a store holds more than the limit from before. */
const ENDED_AT_ONCE = 10

/** Insertions after which the records of an owner are counted again, since other processes insert too. */
const COUNTED_EVERY = 64
/** Owners whose counts are remembered; the records of a forgotten owner are counted again. */
export const MAX_OWNERS = 10_000

/** The earliest records that one query fetches: sorting all records of an owner takes long. */
const EARLIEST_AHEAD = 32

function countOfOwner({ ownerCounts }: EngineContext, owner: string): OwnerCount {
  // An unknown owner is counted at its first insertion.
  const known = ownerCounts.get(owner) ?? { count: 0, since: Number.MAX_SAFE_INTEGER, earliest: [] }
  ownerCounts.set(owner, known)
  return known
}

/**
 * Keeps the owner of a new record within the quota of its resource. Beyond the limit the earliest records of the owner are ended, up to the
 * end of a batch. Error: `COULD_NOT_VALIDATE` naming the owner's field and the limit, for a resource that ends no records.
 */
export async function keepOwnerQuota<R extends Resource>(
  context: EngineContext,
  tx: WriteTransaction,
  resource: R,
  record: RecordOf<R>,
  batch: WriteBatch = WHOLE,
): Promise<typeof MORE | undefined> {
  const { mostPerOwner, storeName } = resource.definition
  if (mostPerOwner === undefined) return undefined
  const { owner, limit, endsEarliest } = mostPerOwner
  const of: unknown = record[owner]
  if (typeof of !== 'string') return undefined
  const most = context.settings.limits[limit]
  const where = equals(owner, of)
  const estimate = countOfOwner(context, `${resource.name} ${of}`)
  const totalCount = await countNearLimit(estimate, most, () => countOf(tx, resource, where))
  if (totalCount < most) return undefined
  if (endsEarliest === undefined) throw tooLarge(owner, `${totalCount} ${storeName}`, most, limit)
  const beyond = Math.min(totalCount - most + 1, ENDED_AT_ONCE)
  for (let ended = 0; ended < beyond; ended += 1) {
    const id = await earliestOf(tx, resource, where, endsEarliest, estimate)
    if (id === undefined) break
    if (!batch.isOver() && (await deleteBatch(tx, resource, id, batch)) !== MORE) continue
    // The next write counts again.
    estimate.since = Number.MAX_SAFE_INTEGER
    return MORE
  }
  return undefined
}

/**
 * The record of an owner whose `field` lies furthest back. A record that was among the earliest and has not changed since is still among
 * them, because the field only grows.
 */
async function earliestOf(
  tx: WriteTransaction,
  resource: Resource,
  where: Filter,
  field: string,
  estimate: OwnerCount,
): Promise<string | undefined> {
  for (let isAsked = false; ; isAsked = true) {
    for (let next = estimate.earliest[0]; next !== undefined; next = estimate.earliest[0]) {
      const record = await ifReadable(() => collectionOf(tx, resource).get(next.id))
      if (record !== undefined && record[field] === next.instant) return next.id
      estimate.earliest = estimate.earliest.slice(1)
    }
    if (isAsked) return undefined
    const orderBy = [...new Set([field, 'createdAt'])].map(earliestFirst)
    const { items } = await collectionOf(tx, resource).find({ where, orderBy, limit: EARLIEST_AHEAD })
    estimate.earliest = items.map((record) => ({ id: record.id, instant: record[field] }))
  }
}

/** A resource whose records count for an owner, and the indexed field that holds the owner's id. */
export interface Counted {
  readonly resource: Resource
  readonly field: string
}

/**
 * Refuses a further record of an owner once all kinds together reach a limit. Error: `COULD_NOT_VALIDATE` naming the first field and the
 * limit.
 */
export async function requireQuota(
  context: EngineContext,
  tx: WriteTransaction,
  counted: readonly Counted[],
  { id, limit }: { readonly id: string; readonly limit: keyof Limits },
): Promise<void> {
  const most = context.settings.limits[limit]
  const estimate = countOfOwner(context, `${limit} ${id}`)
  const count = await countNearLimit(estimate, most, async () => {
    let sum = 0
    for (const { resource, field } of counted) sum += await countOf(tx, resource, equals(field, id))
    return sum
  })
  const [first] = counted
  if (count >= most && first !== undefined) {
    throw tooLarge(first.field, `${count} ${first.resource.definition.storeName}`, most, limit)
  }
}

/** The number of records, counted if the last count is old or the limit may be near; otherwise 0. */
async function countNearLimit(estimate: OwnerCount, most: number, count: () => Promise<number>): Promise<number> {
  estimate.count += 1
  estimate.since += 1
  // Far from the limit, insertions of other processes cannot have reached it since the last count.
  const isFar = estimate.since < Math.max(COUNTED_EVERY, (most - estimate.count) / COUNTED_EVERY)
  if (estimate.count <= most && isFar) return 0
  const totalCount = await count()
  estimate.count = totalCount + 1
  estimate.since = 0
  return totalCount
}

async function countOf(tx: WriteTransaction, resource: Resource, where: Filter): Promise<number> {
  return (await tx.collection(resource).find({ where, limit: 0 })).totalCount
}

function earliestFirst(field: string) {
  return { field, kind: 'instant', direction: 'asc' } as const
}
