import type { Apis } from '../api/apis.ts'
import { type List, type Row, readList } from '../api/read-json.ts'
import type { Target } from './bulk.ts'
import { conditionOf } from './filter-terms.ts'
import { withDetails } from './identity-details.ts'
import type { TablePlace, TableProps } from './table-place.ts'

/** A page of a table. */
export const PAGE_SIZE = 50
/** The largest page that the API answers. */
const LARGEST_PAGE = 500

/** Reads a page of the entities of a kind that fulfil the conditions, with what the chosen columns show. */
export async function readRows(
  apis: Apis,
  kind: string,
  { table, terms, sort, columns }: TablePlace,
  { offset, limit = PAGE_SIZE }: { readonly offset: number; readonly limit?: number },
  signal: AbortSignal,
): Promise<List> {
  const filter = conditionOf(terms, table.filters)
  const { rows, total } = await readList(apis, kind, { filter, sort, limit, offset }, signal)
  return { rows: kind === 'identities' ? await withDetails(apis, rows, columns, signal) : rows, total }
}

/** Reads the entities that a table has on all its pages, `most` of them at most; none is told twice. */
export async function readAllRows(
  apis: Apis,
  { kind, shown }: Pick<TableProps, 'kind' | 'shown'>,
  most: number,
  onRows: (rows: readonly Row[]) => void,
  signal = new AbortController().signal,
): Promise<void> {
  const known = new Set<string>()
  for (let offset = 0; offset < most; offset += LARGEST_PAGE) {
    const limit = Math.min(LARGEST_PAGE, most - offset)
    const { rows, total } = await readRows(apis, kind, shown, { offset, limit }, signal)
    onRows(rows.filter(({ id }) => !known.has(id)))
    for (const { id } of rows) known.add(id)
    if (rows.length === 0 || offset + rows.length >= total) return
  }
}

/** A row as something that an action is done to. */
export function targetOf({ id, name, of }: Row): Target {
  return { id, name, roleAttributes: Array.isArray(of.roleAttributes) ? of.roleAttributes.map(String) : [] }
}
