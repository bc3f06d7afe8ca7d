import { sql } from 'kysely'
import type { Sql } from '../../language/language.ts'

/** A condition that is known before any row is looked at, or one to ask the database. */
export type Condition = Sql | boolean

export function toSql(condition: Condition): Sql {
  if (typeof condition !== 'boolean') return condition
  return condition ? sql`1 = 1` : sql`1 = 0`
}

/** The opposite of a condition that is never null. */
export function not(condition: Condition): Condition {
  return typeof condition === 'boolean' ? !condition : sql`not (${condition})`
}

export function allOf(conditions: readonly Condition[]): Condition {
  const open = conditions.filter((condition) => typeof condition !== 'boolean')
  if (conditions.includes(false)) return false
  return open.length < 2 ? (open[0] ?? true) : sql`(${sql.join(open, sql` and `)})`
}

export function anyOf(conditions: readonly Condition[]): Condition {
  const open = conditions.filter((condition) => typeof condition !== 'boolean')
  if (conditions.includes(true)) return true
  return open.length < 2 ? (open[0] ?? false) : sql`(${sql.join(open, sql` or `)})`
}
