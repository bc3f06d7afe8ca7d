import type { RowSource } from '../driver/connection.ts'
import type { ChangeFeed, StoredState } from '../records/change-feed.ts'
import type { RecordCache } from './record-cache.ts'

/** The cache as one transaction may use it: while it holds the records of its own snapshot, and no longer. */
export interface CachedReads {
  readonly cache: RecordCache
  /**
   * Whether the cache is level with the transaction in what it holds of a record, or, without an id, of which records a kind
   * has: false from the moment at which the cache has moved on, and of what the transaction has changed.
   */
  isLevel(kind: string, id?: string): boolean
}

/** What writes have changed that are not committed yet: the cache knows nothing of it. */
export class Uncommitted {
  readonly #ids = new Map<string, Set<string>>()

  add(kind: string, id: string): void {
    const ids = this.#ids.get(kind)
    if (ids === undefined) this.#ids.set(kind, new Set([id]))
    else ids.add(id)
  }

  /** Whether the record was changed; without an id, whether some record of the kind was. */
  has(kind: string, id?: string): boolean {
    const ids = this.#ids.get(kind)
    return ids !== undefined && (id === undefined || ids.has(id))
  }
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
  uncommitted?: Uncommitted,
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
  return cache.revision === revision ? cachedNow(cache, uncommitted) : undefined
}

/** The cache for a transaction on the revision that it is at now. */
export function cachedNow(cache: RecordCache, uncommitted?: Uncommitted): CachedReads {
  const { moves } = cache
  const isThere = () => cache.moves === moves
  if (uncommitted === undefined) return { cache, isLevel: isThere }
  return { cache, isLevel: (kind, id) => isThere() && !uncommitted.has(kind, id) }
}
