import type { Filter } from './core.ts'
import type { IndexedValue } from './field-index.ts'
import type { Table } from './table.ts'

/** Ids among which are all those of the records that fulfil a filter. */
interface Lookup {
  ids(): Iterable<string>
  /** Whether the ids come in ascending order. */
  readonly isById: boolean
}

interface Question {
  readonly field: string
  /** Whether it is some element of a set that has to hold one of the values. */
  readonly isOfSet: boolean
  readonly values: ReadonlySet<IndexedValue>
}

/** One record found by its id costs about as much as this many in a scan. */
const SCANNED_PER_LOOKUP = 4

/**
 * The lookup by id or by an index that promises the fewest candidates for `filter`; undefined when looking through the
 * whole table promises to be quicker, or when the filter asks for no value that can be looked up.
 */
export function cheapestLookup(table: Table, filter: Filter): Lookup | undefined {
  let cheapest: Question | undefined
  let leastCost = table.records.size
  for (const question of necessaryQuestions(filter)) {
    const cost = costOf(table, question, leastCost)
    if (cost >= leastCost) continue
    cheapest = question
    leastCost = cost
  }
  return cheapest === undefined ? undefined : lookUp(table, cheapest)
}

/** The questions `field = value` and `field in values`, of a set of some element, that every record must answer with yes. */
function* necessaryQuestions(filter: Filter): Generator<Question> {
  let rest = filter
  for (; rest.kind === 'and'; rest = rest.right) yield* necessaryQuestions(rest.left)
  if (rest.kind !== 'compare' && rest.kind !== 'in') return
  const { kind, field } = rest.operand
  if (kind !== 'field' && kind !== 'anyOf') return
  const isOfSet = kind === 'anyOf'
  if (rest.kind === 'in') yield { field, isOfSet, values: rest.values }
  else if (rest.operator === '=') yield { field, isOfSet, values: new Set([rest.value]) }
}

/** What the lookup of a question costs; counting stops where it costs `most`. */
function costOf(table: Table, { field, isOfSet, values }: Question, most: number): number {
  if (field === 'id' && !isOfSet) return values.size * SCANNED_PER_LOOKUP
  const index = table.indexes.get(field)
  if (index === undefined || index.isOfSet !== isOfSet) return Number.POSITIVE_INFINITY
  let cost = 0
  for (const value of values) {
    for (const _ of index.idsWith(value)) {
      cost += SCANNED_PER_LOOKUP
      if (cost >= most) return cost
    }
  }
  return cost
}

function lookUp(table: Table, { field, isOfSet, values }: Question): Lookup {
  const index = table.indexes.get(field)
  const isById = values.size <= 1
  // A record that holds several of the values in a set is still one.
  return { ids: () => (isOfSet && !isById ? new Set(candidates()) : candidates()), isById }

  function* candidates(): Generator<string> {
    for (const value of values) {
      if (index !== undefined) yield* index.idsWith(value)
      else if (typeof value === 'string') yield value
    }
  }
}
