import type { FrozenRecord } from './frozen-record.ts'
import type { Table } from './table.ts'
import type { Turns } from './turns.ts'

const RECORDS = 1000

/** Every record of a table that nobody changes meanwhile, by its id, a slice at a time. */
export async function* scan(table: Table, turns: Turns): AsyncGenerator<readonly FrozenRecord[], void> {
  let slice: FrozenRecord[] = []
  let since = turns.begin()
  for (const record of table.records.values()) {
    slice.push(record)
    if (slice.length < RECORDS) continue
    yield slice
    slice = []
    const turn = turns.afterSlice(since)
    if (turn === undefined) continue
    await turn
    since = performance.now()
  }
  if (slice.length > 0) yield slice
}
