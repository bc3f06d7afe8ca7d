import { compareBy, type FindQuery, matches, type Page } from './core.ts'
import type { FrozenRecord } from './frozen-record.ts'
import { pageInOrder, sortedPage } from './page.ts'
import { planFind } from './plan.ts'
import type { Table } from './table.ts'
import type { Turns } from './turns.ts'

/** After so many records a scan looks at the clock. */
const RECORDS_PER_LOOK = 128

/** Answers a question about a table that nobody changes meanwhile; a long scan lets others have the event loop between slices. */
export async function find(table: Table, query: FindQuery, turns: Turns): Promise<Page<FrozenRecord>> {
  const { limit = Number.POSITIVE_INFINITY, offset = 0 } = query
  const { records, isInOrder, where, orderBy } = planFind(table, query)
  const page = isInOrder ? pageInOrder(offset, limit) : sortedPage(compareBy(orderBy), offset, limit)
  const isAll = where === undefined
  if (isAll && limit === 0) return { items: [], totalCount: table.records.size }

  let since = turns.begin()
  let seen = 0
  for (const record of records) {
    if ((isAll || matches(where, record)) && !page.add(record) && isAll) break
    seen += 1
    if (seen % RECORDS_PER_LOOK !== 0) continue
    const turn = turns.afterSlice(since)
    if (turn === undefined) continue
    await turn
    since = performance.now()
  }
  return { items: page.items(), totalCount: isAll ? table.records.size : page.count }
}
