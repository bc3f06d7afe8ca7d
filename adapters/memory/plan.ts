import type { Filter, FindQuery, OrderBy } from './core.ts'
import type { FrozenRecord } from './frozen-record.ts'
import { cheapestLookup } from './lookup.ts'
import type { Table } from './table.ts'

/** How a question is answered: which records are looked at, and what remains to be done with them. */
interface Plan {
  readonly records: Iterable<FrozenRecord>
  /** Whether the records come in the order asked for. */
  readonly isInOrder: boolean
  /** What each record must satisfy; absent when all of the table do. */
  readonly where: Filter | undefined
  readonly orderBy: readonly OrderBy[]
}

/** Chooses the quickest way to a question's records: by looking ids up, along an index, or through the whole table. */
export function planFind(table: Table, query: FindQuery): Plan {
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
