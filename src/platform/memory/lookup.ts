import { runtime } from '../../concurrency/process-runtime.ts'
import { compareBy, type Filter, matches, type OrderBy } from '../../kernel/filter/index.ts'
import type { FindQuery, Page } from '../../ports/record-storage.ts'
import type { IndexedValue } from './field-index.ts'
import type { FrozenRecord } from './frozen-record.ts'
import type { Table } from './table.ts'
import type { Turns } from './turns.ts'

/** A superset of the ids of the records that fulfil a filter. */
interface Lookup {
  ids(): Iterable<string>
  /** Whether the ids come in ascending order. */
  readonly isById: boolean
}

interface Question {
  readonly field: string
  /** Whether the values are compared with each element of a set. */
  readonly isOfSet: boolean
  readonly values: ReadonlySet<IndexedValue>
}

/** One record found by its id costs about as much as this many in a scan. */
const SCANNED_PER_LOOKUP = 4

/**
 * The lookup by id or by an index that promises the fewest candidates for `filter`; undefined when looking through the
 * whole table promises to be quicker, or when the filter asks for no value that can be looked up.
 */
function cheapestLookup(table: Table, filter: Filter): Lookup | undefined {
  let cheapest: Question | undefined
  let leastCost = table.records.size
  for (const question of necessaryQuestions(filter)) {
    const cost = costOf(table, question, leastCost)
    if (cost >= leastCost) continue
    cheapest = question
    leastCost = cost
  }
  return cheapest === undefined ? undefined : lookUp(table, cheapest)
}

/** The questions `field = value` and `field in values`, of a set of some element, that every record must answer with yes. */
function* necessaryQuestions(filter: Filter): Generator<Question> {
  let rest = filter
  for (; rest.kind === 'and'; rest = rest.right) yield* necessaryQuestions(rest.left)
  if (rest.kind !== 'compare' && rest.kind !== 'in') return
  const { kind, field } = rest.operand
  if (kind !== 'field' && kind !== 'anyOf') return
  const isOfSet = kind === 'anyOf'
  if (rest.kind === 'in') yield { field, isOfSet, values: rest.values }
  else if (rest.operator === '=') yield { field, isOfSet, values: new Set([rest.value]) }
}

/** Computes the cost of the lookup of a question; counting stops where it costs `most`. */
function costOf(table: Table, { field, isOfSet, values }: Question, most: number): number {
  if (field === 'id' && !isOfSet) return values.size * SCANNED_PER_LOOKUP
  const index = table.indexes.get(field)
  if (index === undefined || index.isOfSet !== isOfSet) return Number.POSITIVE_INFINITY
  let cost = 0
  for (const value of values) {
    for (const _ of index.idsWith(value)) {
      cost += SCANNED_PER_LOOKUP
      if (cost >= most) return cost
    }
  }
  return cost
}

function lookUp(table: Table, { field, isOfSet, values }: Question): Lookup {
  const index = table.indexes.get(field)
  const isById = values.size <= 1
  // A record with several of the values in a set counts once.
  return { ids: () => (isOfSet && !isById ? new Set(candidates()) : candidates()), isById }

  function* candidates(): Generator<string> {
    for (const value of values) {
      if (index !== undefined) yield* index.idsWith(value)
      else if (typeof value === 'string') yield value
    }
  }
}

/** Records after which a scan looks at the clock: looking at each would take longer than the scan. */
const RECORDS_PER_LOOK = 128

/** Answers a query over a table that does not change meanwhile. A long scan gives up the event loop between slices. */
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
    since = runtime.monotonic()
  }
  return { items: page.items(), totalCount: isAll ? table.records.size : page.count }
}

const RECORDS = 1000

/** Every record of a table that does not change meanwhile, by its id, a slice at a time. */
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
    since = runtime.monotonic()
  }
  if (slice.length > 0) yield slice
}

/** The plan of a query: the records to look at, and the work that remains. */
interface Plan {
  readonly records: Iterable<FrozenRecord>
  /** Whether the records come in the order asked for. */
  readonly isInOrder: boolean
  /** The filter that each record must satisfy; absent when all of the table do. */
  readonly where: Filter | undefined
  readonly orderBy: readonly OrderBy[]
}

/** Chooses the quickest way to a question's records: by looking ids up, along an index, or through the whole table. */
function planFind(table: Table, query: FindQuery): Plan {
  const where = query.where?.kind === 'all' ? undefined : query.where
  const orderBy = query.orderBy ?? []
  const isById = orderBy[0] === undefined || isAscending(orderBy[0], 'id')
  const lookup = where === undefined ? undefined : cheapestLookup(table, where)
  if (lookup !== undefined) {
    return { records: recordsOf(table, lookup.ids()), isInOrder: isById && lookup.isById, where, orderBy }
  }
  const index = where === undefined && !isById ? indexInOrder(table, orderBy) : undefined
  if (index !== undefined) return { records: recordsOf(table, index.idsInOrder()), isInOrder: true, where, orderBy }
  return { records: table.records.values(), isInOrder: isById, where, orderBy }
}

function* recordsOf(table: Table, ids: Iterable<string>): Generator<FrozenRecord> {
  for (const id of ids) {
    const record = table.records.get(id)
    if (record !== undefined) yield record
  }
}

/** The index that lists the table in the order asked for: ascending by one field, then by id. */
function indexInOrder(table: Table, [first, second]: readonly OrderBy[]) {
  if (first === undefined || !isAscending(first, first.field)) return undefined
  const index = second === undefined || isAscending(second, 'id') ? table.indexes.get(first.field) : undefined
  return index?.isOfSet ? undefined : index
}

function isAscending(order: OrderBy, field: string): boolean {
  return order.field === field && order.direction === 'asc'
}

/** Takes matching records one by one and keeps the records of the page. */
interface PageBuilder {
  /** Answers false when no further record can change the page's items. */
  add(record: FrozenRecord): boolean
  /** How many records were added. */
  readonly count: number
  items(): readonly FrozenRecord[]
}

/** A page of records that arrive in the order asked for. */
function pageInOrder(offset: number, limit: number): PageBuilder {
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
function sortedPage(compare: (a: FrozenRecord, b: FrozenRecord) => number, offset: number, limit: number): PageBuilder {
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
