import type { RowSource } from '../driver/connection.ts'
import type { ChangeFeed, StoredState } from '../records/change-feed.ts'
import type { RecordCache } from './record-cache.ts'

/** The cache as one read may use it: while it holds the records of the read's own snapshot, and no longer. */
export interface CachedReads {
  readonly cache: RecordCache
  /** False from the moment at which the cache has moved on to another revision. */
  isLevel(): boolean
}

/** Across more revisions than that the cache starts afresh. */
const FURTHEST = 1000

/**
 * Brings the cache level with a snapshot that `connection` holds. Answers undefined when the cache is further already, for a
 * read that began earlier. `before` is the cache's revision at a moment before the snapshot was taken: a snapshot that does
 * not reach it shows that the database was put back to an older state.
 */
export async function levelReads(
  cache: RecordCache,
  feed: ChangeFeed,
  connection: RowSource,
  state: StoredState,
  before: number,
): Promise<CachedReads | undefined> {
  const { revision } = state
  if (revision < before) cache.clear()
  while (cache.revision < revision) {
    const { revision: from, moves } = cache
    const isNear = from >= 0 && revision - from <= FURTHEST
    const changes = isNear ? await feed.changesSince(connection, state, from) : undefined
    // Others may have moved it meanwhile.
    if (cache.moves === moves) cache.moveTo(revision, changes)
  }
  return cache.revision === revision ? cachedNow(cache) : undefined
}

/** The cache for a read of the revision that it is at now. */
export function cachedNow(cache: RecordCache): CachedReads {
  const { moves } = cache
  return { cache, isLevel: () => cache.moves === moves }
}
