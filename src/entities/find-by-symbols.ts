import type { EngineContext } from '../context/context.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { both, compareBy, type Filter } from '../kernel/filter/index.ts'
import type { FindQuery, Page, ReadTransaction } from '../ports/record-storage.ts'
import { collectionOf, pageOf } from '../records/read-records.ts'
import { computedSymbol, type SymbolScope, symbolScope, symbolValues } from './entity-symbols.ts'
import { resolveFilter } from './resolve-filter.ts'

/**
 * The page of a resource's records that a query asks for; the query may name computed symbols. The storage answers the
 * part of it that is about stored fields; an order by a computed symbol is made here.
 */
export async function findBySymbols<R extends Resource>(
  context: EngineContext,
  tx: ReadTransaction,
  resource: R,
  query: FindQuery,
): Promise<Page<RecordOf<R>>> {
  const { where, orderBy = [], limit, offset = 0 } = query
  const scope = symbolScope(context, tx, resource)
  const narrowed = where === undefined ? {} : { where: await resolveFilter(scope, where) }
  const unsearched = withoutUnsearched(resource, narrowed.where)
  if (unsearched !== undefined) {
    const { items } = await collectionOf(tx, resource).find(unsearched.searched)
    return pageOf(items, { ...query, where: unsearched.rest })
  }
  const isConstant = (field: string) => computedSymbol(resource, field)?.by === 'constant'
  const telling = orderBy.filter(({ field }) => !isConstant(field))
  const collection = collectionOf(tx, resource)
  if (telling.every(({ field }) => computedSymbol(resource, field) === undefined)) {
    return collection.find({ ...query, ...narrowed, orderBy: telling })
  }
  const { items, totalCount } = await collection.find(narrowed)
  const keys = await sortKeys(
    scope,
    items,
    telling.map(({ field }) => field),
  )
  const compare = compareBy(telling)
  const sorted = items
    .map((record) => ({ record, key: keys(record) }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ record }) => record)
  return { items: sorted.slice(offset, limit === undefined ? undefined : offset + limit), totalCount }
}

/** The same for several resources that share the symbols of the query, in one order. Each item names the resource of its record. */
export async function findAmong<R extends Resource>(
  context: EngineContext,
  tx: ReadTransaction,
  resources: readonly R[],
  query: FindQuery,
): Promise<Page<{ readonly resource: R; readonly record: RecordOf<R> }>> {
  const { orderBy = [], limit, offset = 0 } = query
  const end = limit === undefined ? undefined : offset + limit
  const first = { ...query, offset: 0, ...(end === undefined ? {} : { limit: end }) }
  const found = await Promise.all(
    resources.map(async (resource) => {
      const { items, totalCount } = await findBySymbols(context, tx, resource, first)
      const names = orderBy.map(({ field }) => field)
      const keyOf = await sortKeys(symbolScope(context, tx, resource), items, names)
      return { totalCount, items: items.map((record) => ({ item: { resource, record }, key: keyOf(record) })) }
    }),
  )
  const compare = compareBy(orderBy)
  const sorted = found.flatMap(({ items }) => items).sort((a, b) => compare(a.key, b.key))
  return {
    items: sorted.slice(offset, end).map(({ item }) => item),
    totalCount: found.reduce((sum, { totalCount }) => sum + totalCount, 0),
  }
}

/** The values that each record is sorted by, under the names of the symbols. */
async function sortKeys<R extends Resource>(
  scope: SymbolScope,
  records: readonly RecordOf<R>[],
  names: readonly string[],
): Promise<(record: RecordOf<R>) => { readonly id: string }> {
  const values = new Map<string, (record: RecordOf<R>) => unknown>()
  for (const name of names) {
    const symbol = computedSymbol(scope.resource, name)
    values.set(name, symbol === undefined ? (record) => record[name] : await symbolValues(scope, symbol, records))
  }
  return (record) => ({
    id: record.id,
    ...Object.fromEntries([...values].map(([name, valueIn]) => [name, valueIn(record)])),
  })
}

/** A filter in two parts that both have to hold: the storage answers the first, and the second is asked of each record that it found. */
interface Parts {
  readonly searched: { readonly where?: Filter }
  readonly rest: Filter
}

/** Takes the conditions on members that no storage searches out of a filter; `undefined` when there are none. */
function withoutUnsearched(resource: Resource, filter: Filter | undefined): Parts | undefined {
  const unsearched = resource.unsearchedJson ?? []
  if (filter === undefined || unsearched.length === 0 || !names(filter, unsearched)) return undefined
  let searched: Filter | undefined
  let rest: Filter = { kind: 'all' }
  for (const term of terms(filter)) {
    if (names(term, unsearched)) rest = { kind: 'and', left: rest, right: term }
    else searched = both(searched, term)
  }
  return { searched: { ...(searched && { where: searched }) }, rest }
}

function terms(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? [...terms(filter.left), ...terms(filter.right)] : [filter]
}

function names(filter: Filter, fields: readonly string[]): boolean {
  switch (filter.kind) {
    case 'all':
    case 'isEmpty':
      return false
    case 'not':
      return names(filter.of, fields)
    case 'and':
    case 'or':
      return names(filter.left, fields) || names(filter.right, fields)
    default:
      return filter.operand.kind === 'json' && fields.includes(filter.operand.field)
  }
}
