import { z } from 'zod'
import { ControllerError, invalidField } from '../../domain/errors.ts'
import { both, FilterError, parseQuery, parseSort, type Query, type SymbolTable } from '../../domain/filter/index.ts'
import type { FindQuery } from '../../ports/storage.ts'
import { resourceNamed } from '../../resources/index.ts'
import { readRoleFilter } from './role-filter.ts'

const IntegerText = z.string().meta({ type: 'integer' })

/** The query parameters of every list; {@link readListQuery} reads what they say. */
export const ListQuery = z.object({
  filter: z.string().optional(),
  limit: IntegerText.optional(),
  offset: IntegerText.optional(),
  sort: z.string().optional(),
})

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 500
const MAX_OFFSET = 100_000

/**
 * Reads `filter`, `sort`, `limit` and `offset`. A limit or offset inside the filter wins; limits are clamped silently at
 * 500 and offsets at 100,000. Errors: `INVALID_FILTER`, `INVALID_SORT_IDENTIFIER`, `COULD_NOT_VALIDATE` for
 * a limit that is no integer.
 */
export function readListQuery(parameters: URLSearchParams, symbols: SymbolTable, byRole = false): FindQuery {
  const query = readQuery(parameters, symbols)
  const sort = parameters.get('sort')
  const orderBy =
    query.orderBy ?? (sort ? refusing('INVALID_SORT_IDENTIFIER', () => parseSort(sort, symbols)) : undefined)
  const limit = query.limit ?? integer(parameters, 'limit')
  const offset = query.offset ?? integer(parameters, 'offset') ?? 0
  const where = both(byRole ? readRoleFilter(parameters) : undefined, query.where)
  return {
    limit: clampLimit(limit),
    offset: Math.min(Math.max(offset, 0), MAX_OFFSET),
    ...(where && { where }),
    ...(orderBy && { orderBy }),
  }
}

/** Reads a list query of `filter` alone; a list that it does not limit is whole. Error: `INVALID_FILTER`. */
export function readFilter(parameters: URLSearchParams, symbols: SymbolTable): FindQuery {
  const { limit, ...query } = readQuery(parameters, symbols)
  return limit === undefined || limit === 'none' || limit < 0 ? query : { ...query, limit }
}

function readQuery(parameters: URLSearchParams, symbols: SymbolTable): Query {
  const linked = (kind: string) => resourceNamed(kind).symbols
  return refusing('INVALID_FILTER', () => parseQuery(parameters.get('filter') ?? '', symbols, linked))
}

function clampLimit(limit: number | 'none' | undefined): number {
  if (limit === undefined || limit === 0) return DEFAULT_LIMIT
  if (limit === 'none' || limit < 0) return MAX_LIMIT
  return Math.min(limit, MAX_LIMIT)
}

function integer(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)
  if (text === null || text === '') return undefined
  if (!/^-?\d{1,15}$/.test(text)) throw invalidField(name, `could not parse ${name}, value is not an integer`, text)
  return Number(text)
}

function refusing<T>(code: 'INVALID_FILTER' | 'INVALID_SORT_IDENTIFIER', parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    throw new ControllerError(code, { code: 'UNHANDLED', message: error.message })
  }
}
