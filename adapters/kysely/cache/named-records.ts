import type { FindQuery } from '../../../src/index.ts'
import type { RecordTable } from '../schema/record-table.ts'

/** What a question names its records by, when it asks for nothing else. */
export type NamedRecords =
  | { readonly by: 'id'; readonly ids: ReadonlySet<string> }
  | { readonly by: 'unique'; readonly field: string; readonly value: string }
  | { readonly by: 'indexed'; readonly field: string; readonly values: ReadonlySet<string> }

/** The records that a question names: by their ids, one by a unique text, or those that hold indexed texts. Undefined for any other question or order. */
export function namedRecords({ kind }: RecordTable, { where, orderBy }: FindQuery): NamedRecords | undefined {
  if (where?.kind !== 'compare' && where?.kind !== 'in') return undefined
  if (where.operand.kind !== 'field' || !isById(orderBy)) return undefined
  const { field } = where.operand
  const isUnique = kind.unique.includes(field)
  const isIndexed = (isUnique || kind.indexed.includes(field)) && kind.fields[field] === 'string'
  if (where.kind === 'in') {
    if (field === 'id') return { by: 'id', ids: texts(where.values) }
    const values = texts(where.values)
    // Unlike an id, a field may hold null.
    return isIndexed && values.size === where.values.size ? { by: 'indexed', field, values } : undefined
  }
  const { operator, value } = where
  if (operator !== '=' || typeof value !== 'string') return undefined
  if (field === 'id') return { by: 'id', ids: new Set([value]) }
  if (!isIndexed) return undefined
  return isUnique ? { by: 'unique', field, value } : { by: 'indexed', field, values: new Set([value]) }
}

function isById(orderBy: FindQuery['orderBy']): boolean {
  const [first] = orderBy ?? []
  return first === undefined || (first.field === 'id' && first.direction === 'asc')
}

/** An id is equal to no value of another type. */
function texts(values: ReadonlySet<unknown>): ReadonlySet<string> {
  for (const value of values) if (typeof value !== 'string') return new Set([...values].filter(isText))
  // Every value has just been found to be one.
  return values as ReadonlySet<string>
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
