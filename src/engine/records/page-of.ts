import { compareBy, matches } from '../../domain/filter/index.ts'
import type { FindQuery, Page } from '../../ports/storage.ts'

/** The page of a list that is no collection of a storage, by the rules of one. */
export function pageOf<T extends object>(items: readonly (T & { readonly id: string })[], query: FindQuery): Page<T> {
  const { where, orderBy = [], offset = 0, limit = items.length } = query
  const found = items.filter((item) => where === undefined || matches(where, { ...item })).sort(compareBy(orderBy))
  return { items: found.slice(offset, offset + limit), totalCount: found.length }
}
