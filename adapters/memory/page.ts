import type { FrozenRecord } from './frozen-record.ts'

/** Takes matching records one by one and keeps what belongs to the page. */
interface PageBuilder {
  /** Answers false when no further record can change the page's items. */
  add(record: FrozenRecord): boolean
  /** How many records were added. */
  readonly count: number
  items(): readonly FrozenRecord[]
}

/** A page of records that arrive in the order asked for. */
export function pageInOrder(offset: number, limit: number): PageBuilder {
  const items: FrozenRecord[] = []
  let count = 0
  return {
    add(record) {
      count += 1
      if (count > offset && items.length < limit) items.push(record)
      return items.length < limit
    },
    get count() {
      return count
    },
    items: () => items,
  }
}

/** The fewest records that are worth a sort. */
const SORT_AT_LEAST = 1024

/**
 * A page of records that arrive in any order. It keeps the first `offset + limit` seen so far and about as many again, so
 * a small page of a large answer costs little memory and no long sort.
 */
export function sortedPage(
  compare: (a: FrozenRecord, b: FrozenRecord) => number,
  offset: number,
  limit: number,
): PageBuilder {
  const wanted = limit === 0 ? 0 : offset + limit
  const fullAt = Math.max(2 * wanted, SORT_AT_LEAST)
  const kept: FrozenRecord[] = []
  let last: FrozenRecord | undefined
  let count = 0
  const sort = () => {
    kept.sort(compare)
    if (kept.length < wanted) return
    kept.length = wanted
    last = kept.at(-1)
  }
  return {
    add(record) {
      count += 1
      if (wanted > 0 && (last === undefined || compare(record, last) < 0)) {
        kept.push(record)
        if (kept.length >= fullAt) sort()
      }
      return wanted > 0
    },
    get count() {
      return count
    },
    items() {
      sort()
      return kept.slice(offset)
    },
  }
}
