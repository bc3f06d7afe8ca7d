import { z } from 'zod'
import { ControllerError, invalidField } from '../../base/errors.ts'
import { LARGEST_PAGE } from '../../base/limits.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import {
  both,
  type Filter,
  FilterError,
  ids,
  parseQuery,
  parseSort,
  type Query,
  type SymbolTable,
} from '../../kernel/filter/index.ts'
import type { FindQuery } from '../../ports/record-storage.ts'

const IntegerText = z.string().meta({ type: 'integer' })

/** The query parameters of every list; {@link readListQuery} reads them. */
export const ListQuery = z.object({
  filter: z.string().optional(),
  limit: IntegerText.optional(),
  offset: IntegerText.optional(),
  sort: z.string().optional(),
})

const DEFAULT_LIMIT = 10
const MAX_OFFSET = 100_000

/**
 * Reads `filter`, `sort`, `limit` and `offset`. A limit or offset inside the filter wins; limits are clamped silently at 500 and offsets at
 * 100,000. Errors: `INVALID_FILTER`, `INVALID_SORT_IDENTIFIER`, `COULD_NOT_VALIDATE` for a limit that is no integer.
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
  if (limit === 'none' || limit < 0) return LARGEST_PAGE
  return Math.min(limit, LARGEST_PAGE)
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

/** The query parameters that narrow a list by role: `roleFilter` may be repeated. */
export const RoleFilterQuery = z.object({
  roleFilter: z.array(z.string()).optional(),
  roleSemantic: z.string().optional(),
})

/**
 * Reads `roleFilter` (`#attribute` or `@id`) and `roleSemantic` (`AllOf`, the default, or `AnyOf`, in any case): entities
 * whose attributes match, and the named ones. Error: `COULD_NOT_VALIDATE` with the parameter.
 */
function readRoleFilter(parameters: URLSearchParams): Filter | undefined {
  const roles = parameters.getAll('roleFilter').filter((role) => role !== '')
  if (roles.length === 0) return undefined
  const strange = roles.find((role) => !role.startsWith('#') && !role.startsWith('@'))
  if (strange !== undefined) throw invalidField('roleFilter', 'role filters must begin with # or @', strange)
  const conditions = roles.filter((role) => role.startsWith('#')).map((role) => hasAttribute(role.slice(1)))
  const named = ids(roles.filter((role) => role.startsWith('@')).map((role) => role.slice(1)))
  const kind = semanticOf(parameters.get('roleSemantic')) === 'allof' ? 'and' : 'or'
  const [first, ...others] = conditions
  if (first === undefined) return named
  return { kind: 'or', left: others.reduce((left, right) => ({ kind, left, right }), first), right: named }
}

function semanticOf(text: string | null): string {
  const semantic = (text || 'AllOf').toLowerCase()
  if (semantic === 'allof' || semantic === 'anyof') return semantic
  throw invalidField('semantic', 'invalid semantic', text)
}

function hasAttribute(attribute: string): Filter {
  return { kind: 'compare', operand: { kind: 'anyOf', field: 'roleAttributes' }, operator: '=', value: attribute }
}

/** Symbols that reveal nothing of a record. */
const OF_EVERYTHING: readonly string[] = ['isSystem']

/**
 * The symbols of a list that shows only a part of each record. Only shown members may be asked for: whether a filter
 * finds a record would reveal the rest. `besides` names symbols that say no more than another shown member.
 */
export function shownSymbols(
  symbols: SymbolTable,
  { shape }: z.ZodObject,
  besides: readonly string[] = [],
): SymbolTable {
  const isShown = (member: string) => Object.hasOwn(shape, member)
  const shown = Object.entries(symbols).filter(([name, { field }]) => {
    const [root = ''] = field.split('.')
    return isShown(root) || OF_EVERYTHING.includes(name) || besides.includes(name)
  })
  return Object.fromEntries(shown)
}

/** The query parameter for the configs that a list of services shows: repeated, or separated by commas. */
export const ConfigTypesQuery = z.object({ configTypes: z.array(z.string()).optional() })

/** The config types that a request names, by id or name; empty when it names none. */
export function configTypesIn(query: z.output<typeof ConfigTypesQuery>): { readonly configTypes?: readonly string[] } {
  const configTypes = (query.configTypes ?? []).flatMap((value) => value.split(',')).filter((name) => name !== '')
  return configTypes.length === 0 ? {} : { configTypes }
}
