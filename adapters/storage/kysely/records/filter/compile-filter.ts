import { sql } from 'kysely'
import type { Filter, Operand } from '../../../../../src/storage.ts'
import type { Sql, SqlLanguage } from '../../driver/language.ts'
import { memberPath } from '../../schema/field-value.ts'
import { BOOLEAN_TEXT, ELEMENT_SCOPE, MEMBER_TEXT, type Scope, type Subject } from './subject.ts'
import { allOf, anyOf, type Condition, not, type ValueTest, valueTest } from './value-test.ts'

/** The facts that a filter is compiled by. */
export interface FilterContext {
  readonly language: SqlLanguage
  readonly scope: Scope
  /** The table of a name without the prefix. */
  table(name: string): Sql
}

/**
 * The condition of a filter: true in SQL for exactly the records for which `matches` answers true. Negations go down to the
 * single tests, where null is treated as a value, so that null in SQL's sense never decides anything.
 */
export function compileFilter(context: FilterContext, filter: Filter, isNegated = false): Condition {
  switch (filter.kind) {
    case 'all':
      return !isNegated
    case 'not':
      return compileFilter(context, filter.of, !isNegated)
    case 'and':
    case 'or': {
      const terms = chain(filter).map((term) => compileFilter(context, term, isNegated))
      return (filter.kind === 'and') === isNegated ? anyOf(terms) : allOf(terms)
    }
    case 'isEmpty': {
      const exists = someElement(context, context.scope.subject(filter.field), filter.where)
      return isNegated ? exists : not(exists)
    }
    default:
      return compileTest(context, filter.operand, valueTest(filter, context.language), isNegated)
  }
}

/** The terms of a chain of one kind, which SQL then reads without nesting. */
function chain(filter: Extract<Filter, { readonly kind: 'and' | 'or' }>): Filter[] {
  const terms: Filter[] = []
  const open: Filter[] = [filter]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === filter.kind) open.push(next.right, next.left)
    else terms.push(next)
  }
  return terms
}

function compileTest(context: FilterContext, operand: Operand, test: ValueTest, isNegated: boolean): Condition {
  const subject = context.scope.subject(operand.field)
  switch (operand.kind) {
    case 'field':
      return testField(context, subject, test, isNegated)
    case 'json':
      return testMember(context, subject, operand.path, test, isNegated)
    case 'count':
      return signed(countTest(context, subject, operand.where, test), isNegated)
    case 'anyOf':
      return signed(elementTest(context, subject, test.ofText(MEMBER_TEXT)), isNegated)
    case 'allOf':
      return signed(elementTest(context, subject, not(test.ofText(MEMBER_TEXT))), !isNegated)
  }
}

function testField({ language }: FilterContext, subject: Subject, test: ValueTest, isNegated: boolean): Condition {
  const whenNull = test.whenNull !== isNegated
  if (subject.kind === 'nothing') return whenNull
  if (subject.kind === 'text') {
    const held = signed(test.ofText(subject.text), isNegated)
    return subject.isRequired ? held : nullable(subject.text.column, held, whenNull)
  }
  const { kind, column } = subject
  if (kind === 'number') return nullable(column, signed(test.ofNumber(column, subject.asText), isNegated), whenNull)
  if (kind === 'boolean') {
    const held = test.ofBoolean({ column, encode: language.boolean })
    return nullable(column, signed(held, isNegated), whenNull)
  }
  return nullable(column, test.whenComposite !== isNegated, whenNull)
}

function nullable(column: Sql, whenValue: Condition, whenNull: boolean): Condition {
  if (whenValue === whenNull) return whenNull
  if (whenValue === true) return sql`${column} is not null`
  // A comparison with null is null in SQL, which is as good as false where nothing negates it.
  return whenNull ? anyOf([sql`${column} is null`, whenValue]) : whenValue
}

function testMember(
  context: FilterContext,
  subject: Subject,
  path: readonly string[],
  test: ValueTest,
  isNegated: boolean,
): Condition {
  if (path.length === 0) return testField(context, subject, test, isNegated)
  if (subject.kind !== 'json') return test.whenNull !== isNegated
  if (subject.searchTable === undefined) {
    throw new TypeError(`filters cannot look into a JSON field of ${context.scope.name} that is not declared for it`)
  }
  const name = path.reduce(memberPath, '')
  const whenNull = test.whenNull !== isNegated
  // There is a row for every member that is not null, so null is where no row says otherwise.
  const says = ofMember(test, isNegated === whenNull)
  if (says === false) return whenNull
  const ids = sql`select m.record_id from ${context.table(subject.searchTable)} as m where m.path = ${name}`
  const found = sql`t.id in (${says === true ? ids : sql`${ids} and ${says}`})`
  return whenNull ? not(found) : found
}

/** Makes the condition that a test, or its opposite, is of a member by its type; never null. */
function ofMember(test: ValueTest, isSaid: boolean): Condition {
  const number = sql.ref('m.number')
  const byType: readonly (readonly [string, Condition])[] = [
    ['text', test.ofText(MEMBER_TEXT)],
    ['number', test.ofEither(test.ofNumber(number, sql.ref('m.value')), test.ofText(MEMBER_TEXT))],
    ['boolean', test.ofEither(test.ofBoolean({ column: number, encode: Number }), test.ofText(BOOLEAN_TEXT))],
    ['composite', test.whenComposite],
  ]
  const conditions = byType.map(([type, says]) => [type, signed(says, !isSaid)] as const)
  if (conditions.every(([, says]) => says === true)) return true
  return anyOf(conditions.map(([type, says]) => allOf([says, says !== false && sql`m.type = ${type}`])))
}

function countTest(context: FilterContext, subject: Subject, where: Filter | undefined, test: ValueTest): Condition {
  const elements = elementsOf(context, subject, where)
  const count = elements === false ? sql`0` : sql`(select count(*) from ${elements})`
  return test.ofNumber(count, sql`cast(${count} as text)`)
}

function someElement(context: FilterContext, subject: Subject, where: Filter | undefined): Condition {
  const elements = elementsOf(context, subject, where)
  return elements === false ? false : sql`exists (select 1 from ${elements})`
}

/** The elements of the record's set that fulfil a filter, as the text behind `from`; false when the set can have none. */
function elementsOf(context: FilterContext, subject: Subject, where: Filter | undefined): Sql | false {
  if (subject.kind !== 'set' || subject.searchTable === undefined) return false
  const condition = where === undefined || compileFilter({ ...context, scope: ELEMENT_SCOPE }, where)
  if (condition === false) return false
  const own = sql`m.record_id = t.id`
  return sql`${context.table(subject.searchTable)} as m where ${condition === true ? own : sql`${own} and ${condition}`}`
}

/** Whether an element of the record's set fulfils a condition, so that an index of the elements can answer it. */
function elementTest(context: FilterContext, subject: Subject, says: Condition): Condition {
  if (says === false || subject.kind !== 'set' || subject.searchTable === undefined) return false
  const ids = sql`select m.record_id from ${context.table(subject.searchTable)} as m`
  return sql`t.id in (${says === true ? ids : sql`${ids} where ${says}`})`
}

function signed(condition: Condition, isNegated: boolean): Condition {
  return isNegated ? not(condition) : condition
}
