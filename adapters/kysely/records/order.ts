import { sql } from 'kysely'
import type { OrderBy } from '../core.ts'
import type { Database } from '../database.ts'
import type { RecordTable } from '../schema/record-table.ts'
import type { Sql } from '../sql.ts'

/** One thing to order by. */
export interface Term {
  readonly expression: Sql
  readonly direction: OrderBy['direction']
  /** True where there is no null to put first or last, so that a plain index serves. */
  readonly isRequired?: boolean
}

/** What to order by; the id decides in the end. Throws a TypeError for a field whose values have no order. */
export function orderTerms(
  { language }: Database,
  { kind, byField }: RecordTable,
  orderBy: readonly OrderBy[],
): readonly Term[] {
  const terms: Term[] = []
  for (const { field, direction } of orderBy) {
    if (field === 'id') return [...terms, { expression: sql.ref('t.id'), direction, isRequired: true }]
    const known = byField.get(field)
    if (known === undefined) continue
    if (known.kind === 'set' || known.kind === 'json') throw new TypeError(`${kind.name} have no order by ${field}`)
    const column = sql.ref(`t.${known.column}`)
    const isIndexedText = known.kind === 'string' && (known.isUnique || known.isIndexed)
    const key = isIndexedText ? language.indexedText(column) : undefined
    if (key !== undefined) terms.push({ expression: key, direction })
    terms.push({ expression: column, direction })
  }
  return [...terms, { expression: sql.ref('t.id'), direction: 'asc', isRequired: true }]
}

export function orderClause({ language }: Database, terms: readonly Term[]): Sql {
  const ordered = terms.map(({ expression, direction, isRequired }) =>
    isRequired ? sql`${expression} ${sql.raw(direction)}` : sql`${expression} ${language.direction(direction)}`,
  )
  return sql`order by ${sql.join(ordered)}`
}
